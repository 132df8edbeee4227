// The strategy `evolutionary`: Ansor's evolution under a cost model, epsilon-greedy, with a coordinate
// descent from the best measured points in a share of each batch, among the sketches that a bandit keeps in
// play (search/parts/sketch_bandit.h). Until there is a model it tries the space's initial points and then a
// diverse random choice.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/settings.h"
#include "search/strategy.h"

namespace lathe {

struct EvolutionaryOptions {
  double random_share = 0.05;  // of a batch: uniform points whatever the model says; at least one point
  double descent_share = 0.4;  // of a batch: neighbours of the best measured points
  int descent_from = 1;        // how many of the best measured points are walked from
  double diversity = 0.25;     // weight of values that a batch does not cover yet, against predicted cost

  // Without drafts at most population * generations points are scored a proposal, with them a population
  // (search/parts/evolve.h), and the neighbours of descent_from points: a point's program and features cost
  // 0.15 to 0.6 ms.
  int population = 96;
  int generations = 3;  // the first is the initial population
};
std::vector<Setting<EvolutionaryOptions>> evolutionary_settings();

std::unique_ptr<Strategy> make_evolutionary(SearchSpace space, uint64_t seed,
                                            const EvolutionaryOptions& options = {});

}  // namespace lathe
