#include "search/schedulers/gradient.h"

#include <gtest/gtest.h>

#include <limits>

namespace lathe {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

GradientOptions greedy() { return {.epsilon = 0}; }

using Make = std::unique_ptr<TaskScheduler> (*)(const std::vector<ScheduledTask>&, uint64_t,
                                                const GradientOptions&);

// Rounds given to each task when its latency after t rounds is seconds[task] * (1 + gain[task] / t).
std::vector<int> rounds_given(const std::vector<ScheduledTask>& tasks, const std::vector<double>& seconds,
                              const std::vector<double>& gain, int rounds, const GradientOptions& options,
                              Make make = make_gradient) {
  auto scheduler = make(tasks, 5, options);
  std::vector<int> given(tasks.size(), 0);
  for (int round = 0; round < rounds; ++round) {
    const int task = *scheduler->next();
    ++given[task];
    scheduler->observe(task, seconds[task] * (1 + gain[task] / given[task]), false);
  }
  return given;
}

TEST(Gradient, WarmsUpWithOneRoundEach) {
  auto scheduler = make_gradient(std::vector<ScheduledTask>(4), 0, greedy());
  for (int task = 0; task < 4; ++task) {
    EXPECT_EQ(scheduler->next(), task);
    scheduler->observe(task, 1.0, false);
  }
}

TEST(Gradient, HeavyTasksGetMoreRounds) {
  const std::vector<ScheduledTask> tasks{{.weight = 1, .flops = 1e9, .kind = "conv"},
                                         {.weight = 10, .flops = 1e9, .kind = "dense"}};
  const auto given = rounds_given(tasks, {1.0, 1.0}, {1.0, 1.0}, 40, greedy());
  EXPECT_GT(given[1], 2 * given[0]);
  EXPECT_GE(given[0], 2);
}

TEST(Gradient, ATaskFarBehindASimilarOneGetsMoreRounds) {
  std::vector<ScheduledTask> tasks{{.weight = 1, .flops = 1e9, .kind = "conv"},
                                   {.weight = 1, .flops = 1e9, .kind = "conv"},
                                   {.weight = 1, .flops = 1e9, .kind = "pool"}};
  // Tasks 1 and 2 are equally slow; only task 1 has a similar task that shows what is possible.
  const auto given = rounds_given(tasks, {0.1, 1.0, 1.0}, {0, 0, 0}, 30, greedy());
  EXPECT_GT(given[1], given[2]);
}

TEST(Gradient, ATaskWithoutAnyValidProgramDoesNotStarveTheOthers) {
  const std::vector<ScheduledTask> tasks{{.weight = 1, .flops = 1, .kind = "a"},
                                         {.weight = 1, .flops = 1, .kind = "b"}};
  const auto given = rounds_given(tasks, {kNever, 1.0}, {0, 0}, 40, greedy());
  EXPECT_GE(given[0], 15);
  EXPECT_GE(given[1], 15);
}

// A hope that cannot be fulfilled: a similar task is a hundred times as fast. The others gain for long.
TEST(Gradient, APatientTaskThatGainsNothingDoesNotTakeTheRoundsOfTheOthers) {
  const std::vector<ScheduledTask> tasks{{.weight = 1, .flops = 1e9, .kind = "conv"},
                                         {.weight = 1, .flops = 1e9, .kind = "conv"},
                                         {.weight = 1, .flops = 2e9, .kind = "dense"},
                                         {.weight = 1, .flops = 3e9, .kind = "depthwise"}};
  const auto rounds = [&](Make make) {
    return rounds_given(tasks, {0.01, 1.0, 1.0, 1.0}, {0.1, 0, 1.0, 1.0}, 80, greedy(), make);
  };
  const auto given = rounds(make_gradient_patient);
  EXPECT_LT(given[1], 40);
  EXPECT_GE(given[2], 16);
  EXPECT_GE(given[3], 16);
  // By the formula alone it takes them.
  EXPECT_GT(rounds(make_gradient)[1], 60);
}

TEST(Gradient, UsedUpTasksDropOut) {
  auto scheduler = make_gradient(std::vector<ScheduledTask>(2), 0, greedy());
  scheduler->observe(0, 1.0, false);
  scheduler->observe(1, 100.0, true);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(scheduler->next(), 0);
  scheduler->observe(0, 1.0, true);
  EXPECT_EQ(scheduler->next(), std::nullopt);
}

TEST(Gradient, SameSeedSameChoicesAndEpsilonReachesEveryTask) {
  const std::vector<ScheduledTask> tasks{{.weight = 1e6, .flops = 1, .kind = "a"},
                                         {.weight = 1, .flops = 1, .kind = "b"}};
  const GradientOptions options{.epsilon = 0.2};
  const auto given = rounds_given(tasks, {1, 1}, {1, 1}, 200, options);
  EXPECT_EQ(given, rounds_given(tasks, {1, 1}, {1, 1}, 200, options));
  EXPECT_GT(given[1], 8);
}

}  // namespace
}  // namespace lathe
