// What a strategy searches: for each sketch its integers, a test that rejects points, and points worth trying
// first. A value; `violation` and `identity` must be pure functions of the point and are called from the
// strategy's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/domain.h"

namespace lathe {

struct SearchSpace {
  std::vector<Domain> sketches;
  std::vector<std::string> sketch_names;  // one for each sketch
  // The named reason why a point of its domain must not be tried, or nothing. An empty function rejects none.
  std::function<std::optional<std::string>(const Point&)> violation;
  // Points of one identity give the same program, as those do that differ in an integer which it does not
  // use: one of them is tried. Pure as well; an empty function: none do.
  std::function<uint64_t(const Point&)> identity;
  std::vector<Point> initial;  // best first; trial 0 of an analytic model

  // Whether the point lies in its sketch's domain and is not rejected.
  bool legal(const Point& point) const;
  // The point's own hash where the space knows no other identity.
  uint64_t identity_of(const Point& point) const { return identity ? identity(point) : hash_of(point); }
};

}  // namespace lathe
