#include "tune/time_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "expr/parse.h"
#include "measure/time_bounds.h"
#include "tune/finals.h"

namespace lathe {
namespace {

// The clock goes on while a test runs, but not for so long.
constexpr double kSlack = 60;

Task task_on_one_core(const std::string& text) {
  return make_task("mm", parse_dag(text).value(), with_cores(parse_target("x86-avx2").value(), 1), {})
      .value();
}

Task product(int64_t n) {
  const std::string size = std::to_string(n);
  return task_on_one_core("C[i:" + size + ", j:" + size + "] = sum(r:" + size + ") A[i, r] * B[r, j]");
}

TEST(TimePlan, WithoutADeadlineThereIsTimeForAll) {
  TimePlan plan({}, 10);
  const Task task = product(64);
  EXPECT_TRUE(std::isinf(plan.end_of_search({&task}).seconds_left()));
  EXPECT_TRUE(std::isinf(plan.end_of_race(task, {}).seconds_left()));
  EXPECT_TRUE(std::isinf(plan.end_of_check(task).seconds_left()));
}

TEST(TimePlan, TheEndIsKeptFreeForWhatItTakes) {
  const Task small = product(64);
  const Task large = product(8192);
  TimePlan plan(Deadline::in(100'000), 10'000);
  const double one = plan.end_of_search({&small}).seconds_left();
  EXPECT_NEAR(one, 90'000, kSlack);
  const double many = plan.end_of_search(std::vector<const Task*>(1000, &small)).seconds_left();
  EXPECT_NEAR(many, 90'000 - 1000 * (0.25 + full_check_seconds(small)), kSlack);
  TimePlan crowded(Deadline::in(1000), 0);
  EXPECT_NEAR(crowded.end_of_search(std::vector<const Task*>(10'000, &small)).seconds_left(), 600, kSlack);
  EXPECT_GT(plan.end_of_check(large).seconds_left(), 0);
  // What cannot be compared in time takes nothing from the search.
  TimePlan short_plan(Deadline::in(full_check_seconds(large) / 2), 0);
  const double race = 0.25 + drawing_seconds(large.dag);
  EXPECT_NEAR(short_plan.end_of_search({&large}).seconds_left(), full_check_seconds(large) / 2 - race, 5);
  EXPECT_LE(short_plan.end_of_check(large).seconds_left(), 0);
}

// Else nothing would be tried where the estimate of what comes afterwards is long.
TEST(TimePlan, WhatTheCallerNeedsLeavesMostOfTheTime) {
  const Task task = product(64);
  TimePlan plan(Deadline::in(10'000), 100'000);
  EXPECT_NEAR(plan.end().seconds_left(), 6'000, kSlack);
  EXPECT_NEAR(plan.end_of_first().seconds_left(), 9'000, kSlack);
  EXPECT_GT(plan.end_of_search({&task}).seconds_left(), 3'000);
  EXPECT_LE(TimePlan(Deadline::in(0), 10).end().seconds_left(), 0);
}

TEST(TimePlan, RacesGetWhatComparisonsLeave) {
  const Task task = product(2048);
  const double check = full_check_seconds(task);
  TimePlan plenty(Deadline::in(1000 * check), 0);
  EXPECT_GT(plenty.end_of_race(task, {&task}).seconds_left(), kRaceSeconds / 2);
  TimePlan none(Deadline::in(1.5 * check), 0);
  EXPECT_LE(none.end_of_race(task, {&task}).seconds_left(), 0);
}

TEST(TimePlan, EstimatesFollowWhatComparisonsTook) {
  const Task task = product(2048);
  const double check = full_check_seconds(task);
  TimePlan plan(Deadline::in(100 + 4 * check), 0);
  EXPECT_GT(plan.end_of_check(task).seconds_left(), 0);
  plan.learn(task, 1000 * (1 + check));
  EXPECT_LE(plan.end_of_check(task).seconds_left(), 100 + 4 * check);
  TimePlan tight(Deadline::in(4 * check), 0);
  tight.learn(task, 10 * check);
  EXPECT_LE(tight.end_of_check(task).seconds_left(), 0);
}

TEST(TimeBounds, FunctionsLastLongerThanProducts) {
  const auto seconds = [](const char* text) { return fastest_seconds(task_on_one_core(text)); };
  const double plain = seconds("C[] = sum(r:5000, s:5000) A[r] * B[s]");
  EXPECT_EQ(seconds("C[] = sum(r:5000, s:5000) min(A[r] / 2.0, B[s])"), plain);
  EXPECT_GT(seconds("C[] = sum(r:5000, s:5000) exp(A[r] * B[s])"), 10 * plain);
  EXPECT_GT(seconds("C[] = sum(r:5000, s:5000) pow(A[r] + 2.0, B[s])"), 100 * plain);
  EXPECT_EQ(seconds("C[] = sum(r:5000, s:5000) pow(A[r], 2.0) * B[s]"), plain);
  EXPECT_GT(seconds("C[] = sum(r:5000, s:5000) pow(A[r], 7.0) * B[s]"), 10 * plain);
  EXPECT_GT(seconds("C[] = sum(r:5000, s:5000) pow(A[r], 2.7) * B[s]"), 100 * plain);
  EXPECT_GT(full_check_seconds(task_on_one_core("C[] = sum(r:5000, s:5000) pow(A[r] + 2.0, B[s])")),
            100 * plain);
}

TEST(TimeBounds, LimitsFollowFromTheWork) {
  const Task small = product(64);
  const Task large = product(8192);
  EXPECT_LT(candidate_limit_seconds(small), 11);
  EXPECT_GT(candidate_limit_seconds(large), 60);
  EXPECT_GT(program_limit_seconds(large), candidate_limit_seconds(large));
  EXPECT_GT(full_check_seconds(large), 20);
  EXPECT_LT(full_check_seconds(small), 0.1);
  const Task copy = task_on_one_core("C[i:1000000000] = A[i]");
  EXPECT_GT(full_check_seconds(copy), 10);
  EXPECT_GT(candidate_limit_seconds(copy), 15);
}

}  // namespace
}  // namespace lathe
