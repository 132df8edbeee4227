// The strategy `descent`: from the best of some random points one parameter after the other is changed by one
// step at a time, as long as a step gains for sure (Welch's test); at the end of a descent the next best
// point is walked from. No cost model.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/settings.h"
#include "search/strategy.h"

namespace lathe {

struct DescentOptions {
  int samples = 32;            // random points at first
  double significance = 0.05;  // the probability of a gain by chance, below which it counts
};
std::vector<Setting<DescentOptions>> descent_settings();

std::unique_ptr<Strategy> make_descent(SearchSpace space, uint64_t seed, const DescentOptions& options = {});

}  // namespace lathe
