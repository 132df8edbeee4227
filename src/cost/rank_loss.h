// AutoTVM's rank objective, formula (2): sum of log(1 + exp(-sign(c_i - c_j) * (f_i - f_j))) over the pairs
// of one task, where c are measured seconds (infinity: failed) and f predicted costs.
#pragma once

#include <span>

namespace lathe {

// The loss over all unordered pairs of different rows. Pairs of equal seconds add log 2 each.
double rank_loss(std::span<const double> seconds, std::span<const double> predictions);

// Adds the loss's first and second derivatives by each prediction, divided by the number of pairs that a row
// is in, to `gradient` and `hessian`. Exact up to 1,448 rows, more than the papers'
// runs have; of longer tasks an even share of the pairs is taken, so that the time is bounded (some
// milliseconds).
void add_rank_gradient(std::span<const double> seconds, std::span<const float> predictions,
                       std::span<float> gradient, std::span<float> hessian);

}  // namespace lathe
