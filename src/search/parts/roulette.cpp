#include "search/parts/roulette.h"

#include <algorithm>

namespace lathe {

Roulette::Roulette(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sums_.push_back(sum += std::max(weight, 0.0));
}

size_t Roulette::spin(Rng& rng) const {
  if (!(sums_.back() > 0)) return rng.below(sums_.size());
  const auto place = std::ranges::upper_bound(sums_, rng.uniform() * sums_.back());
  return std::min(static_cast<size_t>(place - sums_.begin()), sums_.size() - 1);
}

}  // namespace lathe
