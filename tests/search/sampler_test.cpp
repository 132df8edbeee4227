#include "search/sampler.h"

#include <gtest/gtest.h>

#include "search/landscape.h"

namespace lathe {
namespace {

TEST(Sampler, FillsUpToTheEndOfTheSpace) {
  SearchSpace space;
  space.sketches = {{{{"order", CategoricalParameter{5}}}}};
  space.sketch_names = {"plain"};
  Sampler sampler(space, Rng(1));
  std::vector<Point> points{{0, {0}}};
  sampler.use(points[0]);
  EXPECT_TRUE(sampler.fill(points, 3));
  EXPECT_EQ(points.size(), 3U);
  EXPECT_FALSE(sampler.fill(points, 9));
  EXPECT_EQ(points.size(), 5U);
}

// The first of two large sketches has one program.
TEST(Sampler, ALargeSketchThatIsUsedUpTakesNoDrawsFromTheOthers) {
  SearchSpace space = Landscape::space();
  space.identity = [](const Point& point) { return point.sketch == 0 ? 0 : hash_of(point); };
  Sampler sampler(space, Rng(1));
  sampler.use(Landscape::optimum());
  const std::vector<Point> points = sampler.peek(500);
  EXPECT_GT(points.size(), 450U);
  for (const Point& point : points) EXPECT_EQ(point.sketch, 1);
}

}  // namespace
}  // namespace lathe
