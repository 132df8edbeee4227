// How well predicted costs order what was measured.
#pragma once

#include <vector>

#include "cost/cost_model.h"

namespace lathe {

// The share of the pairs of one task that the costs order as the seconds do.
inline double pair_accuracy(const CostSamples& samples, const std::vector<double>& costs) {
  double right = 0;
  double pairs = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (samples.tasks[i] != samples.tasks[j]) continue;
      ++pairs;
      right += (samples.seconds[i] < samples.seconds[j]) == (costs[i] < costs[j]) ? 1 : 0;
    }
  }
  return right / pairs;
}

}  // namespace lathe
