#include "search/schedulers/task_gradient.h"

#include <gtest/gtest.h>

#include <limits>

namespace lathe {
namespace {

TEST(TaskGradient, NumberOfTheSpecification) {
  const std::vector<double> history{10, 8, 6, 5};
  const GradientInputs inputs{
      .weight = 2, .flops = 1e9, .best_seconds = history, .similar_flops_per_second = 4e8};
  EXPECT_NEAR(task_gradient(inputs, {}), -2.666667, 1e-6);
}

TEST(TaskGradient, NoBackwardTermBeforeTheWindowIsFull) {
  const std::vector<double> history{10, 8, 6};
  EXPECT_NEAR(task_gradient({.weight = 1, .flops = 1e9, .best_seconds = history}, {}), 0.8 * -2.0, 1e-12);
}

TEST(TaskGradient, AFasterSimilarTaskRaisesTheExpectation) {
  const std::vector<double> history{10, 10, 10, 10};
  GradientInputs inputs{.weight = 1, .flops = 1e9, .best_seconds = history, .similar_flops_per_second = 1e9};
  // The similar task suggests 2 s instead of 10 s.
  EXPECT_NEAR(task_gradient(inputs, {}), 0.8 * -8.0, 1e-12);
  inputs.belief = 0.5;
  EXPECT_NEAR(task_gradient(inputs, {}), 0.8 * -4.0, 1e-12);
}

}  // namespace
}  // namespace lathe
