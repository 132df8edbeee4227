// Draws places in proportion to weights. A value.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"

namespace lathe {

class Roulette {
 public:
  Roulette() = default;
  // Weights below 0 count as 0; where all are 0 every place is as likely.
  explicit Roulette(std::span<const double> weights);
  // A place of the weights, of which there is one at least.
  size_t spin(Rng& rng) const;

 private:
  std::vector<double> sums_;  // up to and with each place
};

}  // namespace lathe
