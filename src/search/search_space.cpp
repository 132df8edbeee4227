#include "search/search_space.h"

namespace lathe {

bool SearchSpace::legal(const Point& point) const {
  if (point.sketch < 0 || point.sketch >= static_cast<int>(sketches.size())) return false;
  if (!check(sketches[point.sketch], point.integers).has_value()) return false;
  return !violation || !violation(point).has_value();
}

}  // namespace lathe
