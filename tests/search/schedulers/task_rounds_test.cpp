#include "search/schedulers/task_rounds.h"

#include <gtest/gtest.h>

#include <limits>

namespace lathe {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
std::vector<double> believed() { return {1, 1, 1}; }

std::vector<ScheduledTask> three_tasks() {
  return {{.weight = 1, .flops = 1e9, .kind = "conv"},
          {.weight = 2, .flops = 1e9, .kind = "conv"},
          {.weight = 1, .flops = 1e9, .kind = "pool"}};
}

TEST(TaskRounds, TheWarmUpComesInOrderAndLeavesOutWhatIsUsedUp) {
  TaskRounds rounds(three_tasks());
  EXPECT_EQ(rounds.without_round(), 0);
  rounds.observe(0, 1, true);
  EXPECT_EQ(rounds.live(), (std::vector<int>{1, 2}));
  EXPECT_EQ(rounds.without_round(), 1);
  rounds.observe(1, 1, false);
  rounds.observe(2, 1, false);
  EXPECT_EQ(rounds.without_round(), std::nullopt);
  EXPECT_EQ(rounds.count(1), 1);
}

// Task 1 could be as fast as task 0, which is similar; nothing is similar to task 2.
TEST(TaskRounds, SimilarTasksShowWhatIsPossible) {
  TaskRounds rounds(three_tasks());
  rounds.observe(0, 0.5, false);
  for (int i = 0; i < 4; ++i) rounds.observe(1, 10, false);
  for (int i = 0; i < 4; ++i) rounds.observe(2, 10, false);
  const GradientOptions options{.alpha = 0};
  const std::vector<double> steepness = rounds.steepness(options, believed());
  EXPECT_DOUBLE_EQ(steepness[1], 2 * (10 - 2 * 0.5));
  EXPECT_DOUBLE_EQ(steepness[2], 10.0 / 4);
  EXPECT_DOUBLE_EQ(rounds.steepness(options, {1, 0.5, 1})[1], 2 * 0.5 * (10 - 2 * 0.5));
}

TEST(TaskRounds, WithoutAValidProgramATaskIsAsPromisingAsTheMostPromising) {
  TaskRounds rounds(three_tasks());
  rounds.observe(0, 8, false);
  rounds.observe(1, kNever, false);
  rounds.observe(2, kNever, true);
  const std::vector<double> steepness = rounds.steepness({}, believed());
  EXPECT_GT(steepness[0], 0);
  EXPECT_EQ(steepness[1], steepness[0]);
  EXPECT_EQ(steepness[2], 0);
}

// The rounds before count, but their times are not what it improved from.
TEST(TaskRounds, RoundsBeforeTheFirstValidProgramCount) {
  TaskRounds rounds(three_tasks());
  for (int i = 0; i < 3; ++i) rounds.observe(2, kNever, false);
  rounds.observe(2, 8, false);
  EXPECT_DOUBLE_EQ(rounds.steepness({.alpha = 0.5}, believed())[2], 0.5 * 8 / 4);
  EXPECT_EQ(rounds.fruitless(2, 0.01), 3);
}

TEST(TaskRounds, ARoundThatGainsLittleIsFruitless) {
  TaskRounds rounds(three_tasks());
  for (const double seconds : {4.0, 2.0, 1.999, 1.998}) rounds.observe(0, seconds, false);
  EXPECT_EQ(rounds.fruitless(0, 0.01), 2);
  EXPECT_EQ(rounds.fruitless(0, 0), 0);
  EXPECT_EQ(rounds.fruitless(1, 0.01), 0);
}

TEST(TaskRounds, TiesGoToFewerRounds) {
  TaskRounds rounds(three_tasks());
  rounds.observe(0, 1, false);
  rounds.observe(0, 1, false);
  rounds.observe(1, 1, false);
  EXPECT_EQ(rounds.greatest({5, 5, 4}), 1);
  EXPECT_EQ(rounds.greatest({5, 4, 5}), 2);
}

}  // namespace
}  // namespace lathe
