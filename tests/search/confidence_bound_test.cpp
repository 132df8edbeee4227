#include "search/confidence_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lathe {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

void expect_near(const std::vector<double>& bounds, const std::vector<double>& expected) {
  ASSERT_EQ(bounds.size(), expected.size());
  for (size_t i = 0; i < bounds.size(); ++i) EXPECT_NEAR(bounds[i], expected[i], 5e-7) << i;
}

TEST(ConfidenceBound, SketchesHaveTheNumbersOfTheSpecification) {
  const std::vector<double> best{2, 1, 4};
  const std::vector<int> rounds{3, 5, 2};
  expect_near(sketch_bounds(best, rounds, 0.3), {0.871692, 1.287912, 0.705228});
}

TEST(ConfidenceBound, TasksHaveTheNumbersOfTheSpecification) {
  const std::vector<double> steepness{2, 8, 4};
  const std::vector<int> rounds{4, 3, 3};
  expect_near(task_bounds(steepness, rounds, 0.3), {0.571895, 1.371692, 0.871692});
}

TEST(ConfidenceBound, WithoutARoundItIsInfinite) {
  const std::vector<double> best{2, kNever};
  const std::vector<int> rounds{3, 0};
  EXPECT_EQ(sketch_bounds(best, rounds, 0.3)[1], kNever);
}

TEST(ConfidenceBound, ASketchThatOnlyFailsHasNoRewardButItsRounds) {
  const std::vector<double> best{2, kNever};
  const std::vector<int> rounds{3, 2};
  EXPECT_NEAR(sketch_bounds(best, rounds, 1)[1], std::sqrt(2 * std::log(5) / 2), 1e-12);
  const std::vector<double> none{kNever, kNever};
  EXPECT_NEAR(sketch_bounds(none, rounds, 1)[0], std::sqrt(2 * std::log(5) / 3), 1e-12);
}

TEST(ConfidenceBound, WhereNothingFallsAllTasksAreWorthTheSame) {
  const std::vector<double> steepness{0, 0};
  const std::vector<int> rounds{1, 1};
  expect_near(task_bounds(steepness, rounds, 0), {1, 1});
}

}  // namespace
}  // namespace lathe
