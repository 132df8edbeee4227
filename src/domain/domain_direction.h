// Steps from point to point of a domain that have names: what is learned of a direction at one point says
// something about the same direction at another. All neighbours are written with these. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/domain.h"
#include "domain/domain_split.h"

namespace lathe {

// One way to step in one parameter, that of this place in its domain. What `raised` and `lowered` are depends
// on the parameter: the parts of a split, 0 the outermost; of an ordered one 0 stands for its place in the
// list, kNone for nothing; of a categorical one the category that is taken and kNone; of a permutation the
// places, side by side, whose items change places.
struct Direction {
  static constexpr int kNone = -1;

  size_t parameter = 0;
  int raised = kNone;
  int lowered = kNone;
  Stride stride = Stride::one;

  auto operator<=>(const Direction&) const = default;
};

// Every direction, in a fixed order that depends on the domain alone.
std::vector<Direction> directions(const Domain& domain);
// The directions of one parameter.
std::vector<Direction> directions(const Domain& domain, size_t parameter);
// For people and models: "C.rows +", "C.order = 2", "loops: 0 <-> 1", "tile: 1 from 0 by a divisor".
std::string label(const Domain& domain, const Direction& direction);
// The point that lies one step away; nothing where the step leads nowhere or out of the domain.
std::optional<std::vector<int64_t>> step(const Domain& domain, const std::vector<int64_t>& integers,
                                         const Direction& direction);

}  // namespace lathe
