#include "search/strategies/flextensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "search/landscape.h"
#include "search/strategies/random.h"

namespace lathe {
namespace {

TEST(FlexTensor, TheProbabilityToStartIsThatOfTheSpecification) {
  EXPECT_NEAR(start_probability(0.5, 100, 80), 0.904837, 1e-6);
  EXPECT_EQ(start_probability(0.5, 100, 100), 1);
}

std::vector<Point> warmed_up(Strategy& strategy, int count) {
  std::vector<Point> all;
  while (std::ssize(all) < count) {
    std::vector<Trial> trials;
    for (const Point& point : strategy.propose(count - static_cast<int>(all.size()), {}).points) {
      all.push_back(point);
      trials.push_back({point, Landscape::seconds(point)});
    }
    strategy.observe(trials);
  }
  return all;
}

// Every proposal after the warm-up is one step from a measured point; P proposes all of a start's.
TEST(FlexTensor, AfterTheWarmUpEveryPointIsAStepAwayFromAMeasuredOne) {
  using Make = std::unique_ptr<Strategy> (*)(SearchSpace, uint64_t, const FlexTensorOptions&);
  for (const Make make : {make_flextensor_q, make_flextensor_p, make_flextensor_r}) {
    const SearchSpace space = Landscape::space();
    const auto strategy = make(space, 2, {.warm_up = 10, .starts = 2});
    std::vector<Point> known = warmed_up(*strategy, 10);
    for (int round = 0; round < 20; ++round) {
      const std::vector<Point> points = strategy->propose(8, {}).points;
      ASSERT_FALSE(points.empty());
      std::vector<Trial> trials;
      for (const Point& point : points) {
        const bool is_near = std::ranges::any_of(known, [&](const Point& from) {
          const auto around = neighbours(space.sketches[0], from.integers);
          return from.sketch == point.sketch && std::ranges::find(around, point.integers) != around.end();
        });
        EXPECT_TRUE(is_near);
        trials.push_back({point, Landscape::seconds(point)});
      }
      strategy->observe(trials);
      known.insert(known.end(), points.begin(), points.end());
    }
  }
}

TEST(FlexTensor, QTakesOneDirectionOfAStartAndPAll) {
  const auto q = make_flextensor_q(Landscape::space(), 1, {.warm_up = 8, .starts = 3});
  warmed_up(*q, 8);
  EXPECT_EQ(q->propose(1000, {}).points.size(), 3U);
  const auto p = make_flextensor_p(Landscape::space(), 1, {.warm_up = 8, .starts = 1});
  warmed_up(*p, 8);
  EXPECT_GT(p->propose(1000, {}).points.size(), 12U);
}

TEST(FlexTensor, MoreStepsGoOnFromWhereTheLastLed) {
  const SearchSpace space = Landscape::space();
  const auto strategy = make_flextensor_r(space, 1, {.warm_up = 4, .starts = 1, .steps = 5});
  Point last = warmed_up(*strategy, 4).back();
  for (int step = 0; step < 5; ++step) {
    const std::vector<Point> points = strategy->propose(16, {}).points;
    ASSERT_EQ(points.size(), 1U);
    const auto around = neighbours(space.sketches[0], last.integers);
    if (step > 0) {
      EXPECT_NE(std::ranges::find(around, points[0].integers), around.end());
    }
    strategy->observe(std::vector<Trial>{{points[0], Landscape::seconds(points[0])}});
    last = points[0];
  }
}

// A failure is no start.
TEST(FlexTensor, WhereAllFailRandomPointsAreTried) {
  const auto strategy = make_flextensor_q(Landscape::space(), 1, {.warm_up = 4});
  std::set<Point> seen;
  for (int round = 0; round < 10; ++round) {
    const std::vector<Point> points = strategy->propose(4, {}).points;
    ASSERT_FALSE(points.empty());
    std::vector<Trial> failed;
    for (const Point& point : points) {
      EXPECT_TRUE(seen.insert(point).second);
      failed.push_back({point, std::numeric_limits<double>::infinity()});
    }
    strategy->observe(failed);
  }
}

TEST(FlexTensor, WalksBeatRandomPoints) {
  double walked = 0;
  double random = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    walked += best_of(run_search(*make_flextensor_q(Landscape::space(), seed, {}), 256, {}));
    random += best_of(run_search(*make_random(Landscape::space(), seed), 256, {}));
  }
  EXPECT_LT(walked, 0.7 * random);
}

}  // namespace
}  // namespace lathe
