// What a strategy searches: for each sketch its integers, a test that rejects points, and points worth trying
// first. A value; `violation` must be a pure function of the point and is called from the strategy's thread
// only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "space/domain.h"

namespace lathe {

struct SearchSpace {
  std::vector<Domain> sketches;
  std::vector<std::string> sketch_names;  // one for each sketch
  // The named reason why a point of its domain must not be tried, or nothing. An empty function rejects none.
  std::function<std::optional<std::string>(const Point&)> violation;
  std::vector<Point> initial;  // best first; trial 0 of an analytic model

  // Whether the point lies in its sketch's domain and is not rejected.
  bool legal(const Point& point) const;
};

}  // namespace lathe
