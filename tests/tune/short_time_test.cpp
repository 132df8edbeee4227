// What a tuner leaves out where its time is up, and what it says of it.
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "target/all.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"
#include "tune/task_tuner.h"
#include "tune/tune.h"

namespace lathe::testing {
namespace {

Task small_matmul() {
  return make_task("mm", parse_dag("C[i:19, j:21] = sum(r:17) A[i,r] * B[r,j]").value(),
                   with_cores(detect_target().value(), 1), {"B"})
      .value();
}

TEST(ShortTime, AWinnerThatThereIsNoTimeToCompareIsSaidToBeSampled) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(":memory:");
  ASSERT_TRUE(store) << store.error().to_string();
  Result<TaskTuner> tuner = TaskTuner::create(small_matmul(), {}, evaluator, *store);
  ASSERT_TRUE(tuner) << tuner.error().to_string();
  ASSERT_TRUE(tuner->step(4, {}));
  const int runs = runner.runs;
  const Watch late{.deadline = Deadline::in(0)};
  ASSERT_TRUE(race(tuner->checked(), tuner->finalists(3), evaluator, *store, late));
  const auto winner = confirm_best(tuner->checked(), evaluator, *store, late);
  ASSERT_TRUE(winner) << winner.error().to_string();
  EXPECT_EQ(winner->winner->only_sampled, "there was no time left");
  EXPECT_EQ(runner.runs, runs);
  ASSERT_TRUE(tuner->step(4, late));
  EXPECT_EQ(tuner->progress().trials, 4) << "no more is tried";
  EXPECT_FALSE(confirm_best(tuner->checked(), evaluator, *store, {})->winner->only_sampled);
}

std::vector<CaseResult> results_within(const TuneBudget& budget) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(":memory:");
  EXPECT_TRUE(store) << store.error().to_string();
  const auto results = tune_cases({small_matmul()}, {}, budget, evaluator, *store, {});
  EXPECT_TRUE(results) << results.error().to_string();
  return *results;
}

TEST(ShortTime, HoweverMuchTheCallerNeedsSomethingIsTried) {
  const auto results = results_within({.trials = 4, .deadline = Deadline::in(100), .closing_seconds = 1000});
  EXPECT_EQ(results.at(0).progress.trials, 4);
  EXPECT_TRUE(results.at(0).winner.has_value());
}

TEST(ShortTime, WhatCannotBeDrawnInTimeIsNotTried) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(":memory:");
  const Task large = make_task("copy", parse_dag("C[i:1000000000] = A[i]").value(),
                               with_cores(detect_target().value(), 1), {})
                         .value();
  const auto results =
      tune_cases({large}, {}, {.trials = 4, .deadline = Deadline::in(30)}, evaluator, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ(results->at(0).progress.trials, 0);
  EXPECT_FALSE(results->at(0).untunable.has_value());
  EXPECT_EQ(runner.runs, 0);
}

// It might have been the best.
TEST(ShortTime, ACandidateThatTheEndOfTheRunCutsShortIsNoFailure) {
  class Hanging : public InProcessRunner {
   public:
    Result<Measurement> measure(const Module&, const MeasureInputs& inputs) override {
      ended = true;
      EXPECT_TRUE(inputs.stop());
      return failed_measurement(ErrorKind::timeout, "it was ended");
    }
    bool ended = false;
  };
  Hanging runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(":memory:");
  ASSERT_TRUE(store) << store.error().to_string();
  Result<TaskTuner> tuner = TaskTuner::create(small_matmul(), {}, evaluator, *store);
  ASSERT_TRUE(tuner) << tuner.error().to_string();
  ASSERT_TRUE(tuner->step(4, {.stop = [&] { return runner.ended; }}));
  EXPECT_EQ(tuner->progress().trials, 0);
  EXPECT_EQ(store->count({}).value(), 0);
}

}  // namespace
}  // namespace lathe::testing
