#include "search/strategies/random.h"

#include <gtest/gtest.h>

#include <set>

#include "search/landscape.h"

namespace lathe {
namespace {

TEST(Random, SameSeedSameProposalsAndNoRepeats) {
  auto a = make_random(Landscape::space(), 9);
  auto b = make_random(Landscape::space(), 9);
  std::set<Point> seen;
  for (int round = 0; round < 20; ++round) {
    const auto batch = a->propose(16, {}).points;
    EXPECT_EQ(batch, b->propose(16, {}).points);
    for (const Point& point : batch) EXPECT_TRUE(seen.insert(point).second);
  }
  EXPECT_EQ(seen.size(), 320u);
}

TEST(Random, DrawsSketchesEvenly) {
  auto strategy = make_random(Landscape::space(), 1);
  int first = 0;
  for (const Point& point : strategy->propose(1000, {}).points) first += point.sketch == 0;
  EXPECT_GT(first, 430);
  EXPECT_LT(first, 570);
}

TEST(Random, GivesEveryLegalPointOnceAndThenNothing) {
  SearchSpace space;
  space.sketches = {{{{"tile", SplitParameter{64, 3, false, 64}}}}, {{{"order", CategoricalParameter{2}}}}};
  space.sketch_names = {"tiled", "plain"};
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.sketch == 0 && point.integers[0] == 1) return "outer tile of one";
    return std::nullopt;
  };
  auto strategy = make_random(space, 1);
  std::set<Point> seen;
  strategy->observe(std::vector<Trial>{{{1, {0}}, 1.0}});
  for (const Point& point : strategy->propose(1000, {}).points) EXPECT_TRUE(seen.insert(point).second);
  EXPECT_EQ(seen.size(), 28u - 7u + 1u);
  EXPECT_TRUE(strategy->propose(16, {}).points.empty());
}

TEST(Random, GivesOnePointOfEachProgram) {
  SearchSpace space;
  space.sketches = {{{{"tile", SplitParameter{64, 3, false, 64}}, {"unused", CategoricalParameter{9}}}}};
  space.sketch_names = {"tiled"};
  space.identity = [](const Point& point) {
    return static_cast<uint64_t>(100 * point.integers[0] + point.integers[1]);
  };
  EXPECT_EQ(make_random(space, 1)->propose(1000, {}).points.size(), 28u);
}

TEST(Random, EndsWhereALargeSpaceHasNoLegalPoint) {
  SearchSpace space = Landscape::space();
  space.violation = [](const Point&) -> std::optional<std::string> { return "never"; };
  auto strategy = make_random(space, 1);
  EXPECT_TRUE(strategy->propose(16, {}).points.empty());
}

}  // namespace
}  // namespace lathe
