// A caller's search method and cost predictor (lathe/search.h) as the tuner takes them.
#pragma once

#include "lathe/search.h"
#include "session/commands/search_parts.h"
#include "tune/task_tuner.h"

namespace lathe {

StrategyFactory own_strategy(const SearchMethodFactory& method);
CostModelFactory own_cost_model(const CostPredictorFactory& predictor);

// Sets the options' factories; empty ones leave the names in force.
void use_own_search(TuneOptions& options, const SearchMethodFactory& method,
                    const CostPredictorFactory& predictor);

}  // namespace lathe
