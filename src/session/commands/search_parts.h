// What the runs of an experiment may name: the strategies and cost models that there are, and those that a
// caller adds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "cost/cost_model.h"
#include "search/strategy.h"

namespace lathe {

using StrategyFactory = std::function<Result<std::unique_ptr<Strategy>>(SearchSpace, uint64_t seed)>;
using CostModelFactory = std::function<Result<std::unique_ptr<CostModel>>()>;

struct SearchParts {
  // Of one's own; a name here hides the one that there is.
  std::map<std::string, StrategyFactory> strategies;
  std::map<std::string, CostModelFactory> cost_models;

  bool owns_strategy(const std::string& text) const { return strategies.contains(text); }
  bool owns_cost_model(const std::string& text) const { return cost_models.contains(text); }
  // By what a run says: a name here, or a name with settings of search/all.h or cost/all.h. An unknown name
  // is an Error.
  Status check_strategy(const std::string& text) const;
  Result<std::unique_ptr<Strategy>> make_strategy(const std::string& text, SearchSpace space,
                                                  uint64_t seed) const;
  Result<std::unique_ptr<CostModel>> make_cost_model(const std::string& text) const;
};

}  // namespace lathe
