#include "search/schedulers/ucb.h"

#include <gtest/gtest.h>

#include <limits>

namespace lathe {
namespace {

std::vector<int> rounds_given(const std::vector<ScheduledTask>& tasks, const std::vector<double>& seconds,
                              int rounds, const UcbOptions& options) {
  auto scheduler = make_ucb(tasks, 0, options);
  std::vector<int> given(tasks.size(), 0);
  for (int round = 0; round < rounds; ++round) {
    const int task = *scheduler->next();
    ++given[task];
    scheduler->observe(task, seconds[task] * (1 + 1.0 / given[task]), false);
  }
  return given;
}

TEST(Ucb, WarmsUpWithOneRoundEach) {
  auto scheduler = make_ucb(std::vector<ScheduledTask>(4), 0, {});
  for (int task = 0; task < 4; ++task) {
    EXPECT_EQ(scheduler->next(), task);
    scheduler->observe(task, 1.0, false);
  }
}

// C weighs the rounds that a task had against how steeply its latency falls.
TEST(Ucb, TheMoreItExploresTheMoreEvenlyItGives) {
  const std::vector<ScheduledTask> tasks{{.weight = 1, .flops = 1e9, .kind = "conv"},
                                         {.weight = 20, .flops = 1e9, .kind = "dense"}};
  const auto narrow = rounds_given(tasks, {1, 1}, 60, {.exploration = 0});
  const auto wide = rounds_given(tasks, {1, 1}, 60, {.exploration = 100});
  EXPECT_GT(narrow[1], 3 * narrow[0]);
  EXPECT_LE(wide[1], wide[0] + 6);
  EXPECT_GE(wide[1], wide[0]);
}

TEST(Ucb, UsedUpTasksDropOut) {
  auto scheduler = make_ucb(std::vector<ScheduledTask>(2), 0, {});
  scheduler->observe(0, 1.0, false);
  scheduler->observe(1, 100.0, true);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(scheduler->next(), 0);
  scheduler->observe(0, 1.0, true);
  EXPECT_EQ(scheduler->next(), std::nullopt);
}

TEST(Ucb, ATaskWithoutAnyValidProgramDoesNotStarveTheOthers) {
  const double never = std::numeric_limits<double>::infinity();
  const auto given = rounds_given(std::vector<ScheduledTask>(2), {never, 1.0}, 40, {});
  EXPECT_GE(given[0], 15);
  EXPECT_GE(given[1], 15);
}

}  // namespace
}  // namespace lathe
