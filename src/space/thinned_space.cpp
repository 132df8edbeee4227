#include "space/thinned_space.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "domain/choices.h"

namespace lathe {

int64_t ThinnedSpace::size() const {
  int64_t size = 0;
  for (const ThinnedDomain& sketch : sketches) size += sketch.domain.size();
  return size;
}

ThinnedSpace thin(const Space& space, int64_t limit) {
  const std::vector<Sketch>& sketches = space.sketches();
  std::vector<size_t> order(sketches.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return sketches[i].domain.size(); });
  ThinnedSpace thinned{std::vector<ThinnedDomain>(sketches.size())};
  int64_t left = limit;
  for (size_t done = 0; done < order.size(); ++done) {
    const Sketch& sketch = sketches[order[done]];
    const int64_t share = std::max<int64_t>(1, left / static_cast<int64_t>(order.size() - done));
    ThinnedDomain& own = thinned.sketches[order[done]];
    own = thin(sketch.domain, sketch.preferred, share);
    left -= own.domain.size();
  }
  return thinned;
}

Point whole_point(const Space& space, const ThinnedSpace& thinned, const Point& point) {
  const Sketch& sketch = space.sketch_of(point);
  const ThinnedDomain& own = thinned.sketches[static_cast<size_t>(point.sketch)];
  const auto integers = integers_of(sketch.domain, choices_of(own.domain, point.integers), sketch.preferred);
  LATHE_CHECK(integers.has_value());
  return {point.sketch, *integers};
}

std::vector<Point> whole_points(const Space& space, const ThinnedSpace& thinned) {
  std::vector<Point> points;
  for (size_t s = 0; s < thinned.sketches.size(); ++s) {
    for (std::vector<int64_t>& integers : all_points(thinned.sketches[s].domain))
      points.push_back(whole_point(space, thinned, {static_cast<int>(s), std::move(integers)}));
  }
  return points;
}

}  // namespace lathe
