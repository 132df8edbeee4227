// The strategies of FlexTensor (section 5.1): from points that annealing chooses among all evaluated ones,
// steps in labelled directions. `flextensor-q` takes the direction that a network says is worth most,
// `flextensor-p` all of them, `flextensor-r` one at random: the control. No cost model.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/settings.h"
#include "search/parts/direction_values.h"
#include "search/strategy.h"

namespace lathe {

// What the paper leaves open is marked "open" and has its public code's value, where that has one.
struct FlexTensorOptions {
  int warm_up = 20;     // open: random points at first, which count as trials
  int starts = 4;       // open: points at once
  int steps = 1;        // open: that a start goes on for; only of q and r
  double gamma = 0.5;   // of the probability to start at a point (start_probability)
  int train_every = 5;  // rounds of starts
  // Of the network; only of q.
  int width = DirectionValueOptions().width;
  double discount = DirectionValueOptions().discount;
  int passes = DirectionValueOptions().passes;
  int memory = DirectionValueOptions().memory;
  double rate = DirectionValueOptions().rate;
};
std::vector<Setting<FlexTensorOptions>> flextensor_settings();

// exp(-gamma (best - value) / best), of performance values, higher being better.
double start_probability(double gamma, double best, double value);

// A random direction is taken with probability max(0.1, 0.8 exp(-0.01 t)) in round t (open).
std::unique_ptr<Strategy> make_flextensor_q(SearchSpace space, uint64_t seed,
                                            const FlexTensorOptions& options = {});
std::unique_ptr<Strategy> make_flextensor_p(SearchSpace space, uint64_t seed,
                                            const FlexTensorOptions& options = {});
std::unique_ptr<Strategy> make_flextensor_r(SearchSpace space, uint64_t seed,
                                            const FlexTensorOptions& options = {});

}  // namespace lathe
