#include "search/strategies/descent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/landscape.h"
#include "search/strategies/random.h"

namespace lathe {
namespace {

TEST(Descent, BeatsRandomPoints) {
  double descended = 0;
  double random = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    descended += best_of(run_search(*make_descent(Landscape::space(), seed, {}), 320, {}));
    random += best_of(run_search(*make_random(Landscape::space(), seed), 320, {}));
  }
  EXPECT_LT(descended, 0.6 * random);
}

SearchSpace line() {
  SearchSpace space;
  space.sketches = {{{{"at", OrderedParameter{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}}}}};
  space.sketch_names = {"line"};
  return space;
}

Trial at(int64_t place, double seconds, double deviation, int samples) {
  return {{0, {place}}, seconds, deviation, samples};
}

// From 5 down the line, as long as every step gains.
TEST(Descent, WalksAsLongAsItGains) {
  auto strategy = make_descent(line(), 1, {.samples = 1});
  strategy->observe(std::vector<Trial>{at(5, 1.0, 0, 1)});
  const auto next = strategy->propose(16, {}).points;
  ASSERT_EQ(next.size(), 2U);
  strategy->observe(std::vector<Trial>{at(4, 0.9, 0, 1), at(6, 1.1, 0, 1)});
  EXPECT_EQ(strategy->propose(16, {}).points, (std::vector<Point>{{0, {3}}}));
}

// After a sure gain the walk goes on from there, the same parameter first; after one by chance it stays where
// it was, and the next parameter is changed.
TEST(Descent, AGainByChanceIsNone) {
  SearchSpace space = line();
  space.sketches[0].parameters.push_back({"other", CategoricalParameter{2}});
  const auto next_after = [&](double deviation) {
    auto strategy = make_descent(space, 1, {.samples = 1});
    const auto tried = [&](int64_t place, double seconds) {
      return Trial{{0, {place, 0}}, seconds, deviation, 5};
    };
    strategy->observe(std::vector{tried(5, 1.0)});
    EXPECT_EQ(strategy->propose(16, {}).points.size(), 2U);
    strategy->observe(std::vector{tried(4, 0.99), tried(6, 1.5)});
    return strategy->propose(16, {}).points;
  };
  EXPECT_EQ(next_after(0.001), (std::vector<Point>{{0, {3, 0}}}));
  EXPECT_EQ(next_after(0.2), (std::vector<Point>{{0, {5, 1}}}));
}

TEST(Descent, WhereAllFailRandomPointsAreTried) {
  auto strategy = make_descent(Landscape::space(), 1, {.samples = 4});
  for (int round = 0; round < 5; ++round) {
    const auto points = strategy->propose(4, {}).points;
    ASSERT_EQ(points.size(), 4U);
    std::vector<Trial> failed;
    for (const Point& point : points) failed.push_back({point, INFINITY});
    strategy->observe(failed);
  }
}

}  // namespace
}  // namespace lathe
