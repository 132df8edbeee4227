// The strategy `evolutionary`: Ansor's evolution under a cost model, epsilon-greedy, with a coordinate
// descent from the best measured points in a share of each batch, among the sketches that a bandit keeps in
// play (sketch_bandit.h). Until there is a model it tries the space's initial points and then a diverse
// random choice.
#pragma once

#include <memory>

#include "search/strategy.h"

namespace lathe {

std::unique_ptr<Strategy> make_evolutionary(SearchSpace space, const StrategyOptions& options);

}  // namespace lathe
