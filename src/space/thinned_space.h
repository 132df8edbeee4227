// A space with fewer points, all of them points of the whole one: small enough for every point to be
// measured.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/thin.h"
#include "space/space.h"

namespace lathe {

struct ThinnedSpace {
  std::vector<ThinnedDomain> sketches;  // one for each sketch of the whole space, in its order

  int64_t size() const;
};

// With no more than `limit` points, or as few as can be had. Each sketch has as many as the others, those
// that have fewer leave what they do not need to them.
ThinnedSpace thin(const Space& space, int64_t limit);

// The same point in the whole space.
Point whole_point(const Space& space, const ThinnedSpace& thinned, const Point& point);

// All points, in the order of the sketches and of all_points (domain/domain.h), as points of the whole space.
std::vector<Point> whole_points(const Space& space, const ThinnedSpace& thinned);

}  // namespace lathe
