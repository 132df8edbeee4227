#include "search/parts/incumbent.h"

#include <gtest/gtest.h>

#include "search/acquisition.h"

namespace lathe {
namespace {

// Costs by the first integer, less sure of odd ones; none for 9.
Predictor by_first() {
  Predictor predictor;
  predictor.full = [](std::span<const Point> points) {
    Prediction prediction;
    for (const Point& point : points) {
      const auto first = static_cast<double>(point.integers[0]);
      prediction.mean.push_back(first == 9 ? INFINITY : first);
      prediction.stddev.push_back(point.integers[0] % 2 == 0 ? 0 : 1);
    }
    return prediction;
  };
  return predictor;
}

std::vector<Point> points() { return {{0, {1}}, {0, {2}}, {0, {9}}}; }

TEST(Incumbent, IsTheFastestThatDidNotFail) {
  Incumbent incumbent;
  EXPECT_FALSE(incumbent.best());
  incumbent.observe(std::vector<Trial>{{{0, {4}}, INFINITY}, {{0, {5}}, 2}, {{0, {6}}, 1}, {{0, {7}}, 3}});
  EXPECT_EQ(incumbent.best()->point, (Point{0, {6}}));
}

TEST(Incumbent, ImprovementsAreAgainstWhatTheModelSaysOfIt) {
  Incumbent incumbent;
  incumbent.observe(std::vector<Trial>{{{0, {2}}, 1e-3}});
  const std::vector<double> costs = incumbent.costs(by_first(), points(), "ei", 1);
  EXPECT_DOUBLE_EQ(costs[0], -expected_improvement(1, 1, 2));
  EXPECT_EQ(costs[1], 0);
  EXPECT_EQ(costs[2], INFINITY);
}

TEST(Incumbent, BeforeTheFirstTimeThereIsOnlyTheMean) {
  EXPECT_EQ(Incumbent().costs(by_first(), points(), "ei", 1), (std::vector<double>{1, 2, INFINITY}));
  EXPECT_EQ(Incumbent().costs(by_first(), points(), "ucb", 2), (std::vector<double>{-1, 2, INFINITY}));
  EXPECT_TRUE(Incumbent().costs(by_first(), {}, "mean", 1).empty());
}

}  // namespace
}  // namespace lathe
