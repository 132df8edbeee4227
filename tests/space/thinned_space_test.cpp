#include "space/thinned_space.h"

#include <gtest/gtest.h>

#include <set>

#include "expr/parse.h"
#include "space/all.h"
#include "target/all.h"

namespace lathe {
namespace {

Space space_of_product() {
  const Task task = make_task("t", parse_dag("C[i:48, j:64] = sum(r:32) A[i,r] * B[r,j]").value(),
                              generic_target("x86-avx2"))
                        .value();
  return derive_space(task).value();
}

TEST(ThinnedSpace, HasNoMorePointsThanAskedForAllOfThemOfTheWholeSpace) {
  const Space space = space_of_product();
  const ThinnedSpace thinned = thin(space, 500);
  ASSERT_EQ(thinned.sketches.size(), space.sketches().size());
  EXPECT_LE(thinned.size(), 500);
  EXPECT_GE(thinned.size(), 100);
  const std::vector<Point> points = whole_points(space, thinned);
  EXPECT_EQ(std::ssize(points), thinned.size());
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), points.size());
  for (const Point& point : points) EXPECT_TRUE(check(space.sketch_of(point).domain, point.integers));
}

TEST(ThinnedSpace, KeepsWhatEachSketchPrefers) {
  const Space space = space_of_product();
  const ThinnedSpace thinned = thin(space, 500);
  for (size_t s = 0; s < space.sketches().size(); ++s) {
    const Point preferred{static_cast<int>(s), thinned.sketches[s].preferred};
    EXPECT_EQ(whole_point(space, thinned, preferred).integers, space.sketches()[s].preferred);
  }
}

TEST(ThinnedSpace, ASpaceThatIsSmallEnoughStaysWhole) {
  const Space space = space_of_product();
  const ThinnedSpace thinned = thin(space, int64_t{1} << 50);
  for (size_t s = 0; s < space.sketches().size(); ++s)
    EXPECT_EQ(thinned.sketches[s].domain.size(), space.sketches()[s].domain.size());
}

}  // namespace
}  // namespace lathe
