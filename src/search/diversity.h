// A set of points and what another one would add to it: AutoTVM's submodular choice, which weighs predicted
// cost against the number of component values that the set does not cover yet.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "domain/domain.h"

namespace lathe {

class DiverseSet {
 public:
  // -cost + alpha * (components of the point whose value no point of the set has). Components of different
  // sketches are different.
  double gain(const Point& point, double cost, double alpha) const;
  void add(const Point& point);

 private:
  std::unordered_set<uint64_t> covered_;
};

// The indices of `count` points, greedily by gain on top of `set`, ties to the lower cost, then the earlier
// point. Costs are scaled to [0, 1] over the finite ones; points of infinite or NaN cost are never chosen.
// alpha is `diversity` divided by the point's number of components. The chosen points are added to `set`.
std::vector<size_t> choose_diverse(std::span<const Point> points, std::span<const double> costs, int count,
                                   double diversity, DiverseSet& set);

}  // namespace lathe
