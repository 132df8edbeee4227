// Programs that are run here: batches with faults lose no outcome, data stay within their bound, and what is
// measured again is not compiled again.
#include "evaluate/local_evaluator.h"

#include <gtest/gtest.h>

#include <vector>

#include "lower/programs.h"
#include "target/all.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"

namespace lathe::testing {
namespace {

CheckedTask checked_sum(int64_t extent) {
  Task task = task_of("C[i:" + std::to_string(extent) + "] = A[i] + 1.0");
  task.target = with_cores(detect_target().value(), 1);
  return {std::make_shared<const Task>(std::move(task))};
}

MeasureJob job_of(const CheckedTask& checked, const std::string& trace = "") {
  return {checked, write_program(*checked.task, parse_trace(trace).value()).value()};
}

TEST(LocalEvaluator, AJobThatWasSentGivesTheSameVerdict) {
  InProcessRunner runner;
  runner.seconds = [](const Module&) { return 3e-6; };
  const MeasureJob job = job_of(checked_sum(40), "split C i [8]");
  const MeasureJob sent = parse_measure_job(print(job), "job").value();
  for (const bool is_wrong : {false, true}) {
    if (is_wrong)
      runner.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
        spoil_element(outputs, 8);
      };
    LocalEvaluator here(runner);
    LocalEvaluator there(runner);
    const Measurement of_job = here.evaluate({&job, 1}, {})->front().measurement;
    const Measurement of_sent =
        parse_measurement(print(there.evaluate({&sent, 1}, {})->front().measurement), "m").value();
    EXPECT_EQ(of_job.ok(), !is_wrong);
    EXPECT_EQ(of_job, of_sent);
  }
}

// Every fault that a candidate may have, and every outcome in its place.
TEST(LocalEvaluator, AThousandJobsWithFaultsLoseNoOutcome) {
  class Faulty : public InProcessRunner {
   public:
    Result<Measurement> measure(const Module& module, const MeasureInputs& inputs) override {
      const int fault = count_++ % 5;
      if (fault == 1) return failed_measurement(ErrorKind::crash, "it crashed");
      if (fault == 2) return failed_measurement(ErrorKind::timeout, "it hung");
      spoil = {};
      if (fault == 3)
        spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
          spoil_element(outputs, 0);
        };
      return InProcessRunner::measure(module, inputs);
    }

   private:
    int count_ = 0;
  };
  Faulty runner;
  LocalEvaluator evaluator(runner, {.overlap = true});
  const CheckedTask checked = checked_sum(16);
  std::vector<MeasureJob> jobs;
  for (int i = 0; i < 1000; ++i) jobs.push_back(job_of(checked, i % 2 == 0 ? "" : "split C i [4]"));
  size_t told = 0;
  EvaluationListener listener;
  listener.done = [&](size_t i, const Evaluated&) -> Status {
    EXPECT_EQ(i, told++);
    return {};
  };
  const auto outcomes = evaluator.evaluate(jobs, {}, listener);
  ASSERT_TRUE(outcomes) << outcomes.error().to_string();
  ASSERT_EQ(outcomes->size(), jobs.size());
  EXPECT_EQ(told, jobs.size());
  for (size_t i = 0; i < outcomes->size(); ++i) {
    const std::optional<MeasureFailure>& failure = (*outcomes)[i].measurement.failure;
    const std::optional<ErrorKind> kind = failure ? std::optional(failure->kind) : std::nullopt;
    const std::optional<ErrorKind> expected = i % 5 == 1   ? std::optional(ErrorKind::crash)
                                              : i % 5 == 2 ? std::optional(ErrorKind::timeout)
                                              : i % 5 == 3 ? std::optional(ErrorKind::wrong_result)
                                                           : std::nullopt;
    EXPECT_EQ(kind, expected) << i;
  }
}

TEST(LocalEvaluator, WhatCannotBeBuiltIsThatJobsFailure) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  const CheckedTask checked = checked_sum(100000);
  const std::vector<MeasureJob> jobs = {job_of(checked), job_of(checked, "unroll C i"), job_of(checked)};
  const auto outcomes = evaluator.evaluate(jobs, {});
  ASSERT_EQ(outcomes->size(), 3u);
  EXPECT_TRUE((*outcomes)[0].measurement.ok());
  EXPECT_FALSE((*outcomes)[1].measurement.ok());
  EXPECT_TRUE((*outcomes)[2].measurement.ok());
}

TEST(LocalEvaluator, AListenersErrorAndTheWatchEndIt) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  const std::vector<MeasureJob> jobs(5, job_of(checked_sum(16)));
  EvaluationListener listener;
  listener.done = [](size_t i, const Evaluated&) -> Status {
    return i < 1 ? Status() : fail(ErrorKind::io, "the disk is full");
  };
  const auto failed = evaluator.evaluate(jobs, {}, listener);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the disk is full");
  EXPECT_EQ(runner.runs, 2);
  const auto ended = evaluator.evaluate(jobs, {.stop = [&] { return runner.runs >= 5; }});
  EXPECT_EQ(ended->size(), 3u);
}

// Inputs are written where a candidate reads them: with another id once the data were let go and drawn anew.
TEST(LocalEvaluator, DataBeyondTheBoundAreDrawnAnewAndAreTheSame) {
  InProcessRunner runner;
  const std::vector<CheckedTask> tasks = {checked_sum(1000), checked_sum(1001), checked_sum(1002)};
  for (const int64_t bound : {int64_t{0}, int64_t{16000}, int64_t{1} << 20}) {
    LocalEvaluator evaluator(runner, {.data_bytes = bound});
    for (int round = 0; round < 3; ++round) {
      for (const CheckedTask& task : tasks) {
        const MeasureJob job = job_of(task);
        EXPECT_TRUE(evaluator.evaluate({&job, 1}, {})->front().measurement.ok()) << bound;
      }
    }
  }
}

TEST(LocalEvaluator, AWinnerIsComparedInFull) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  const MeasureJob job = job_of(checked_sum(5000));
  const Result<FullCheck> right = evaluator.check_in_full(job, {});
  ASSERT_TRUE(right) << right.error().to_string();
  EXPECT_FALSE(right->failure || right->unfinished);
  runner.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
    spoil_element(outputs, 4 * 4999);
  };
  EXPECT_EQ(evaluator.check_in_full(job, {})->failure->kind, ErrorKind::wrong_result);
  LocalEvaluator other(runner);
  EXPECT_EQ(other.check_in_full(job, {.stop = [] { return true; }})->unfinished, kNoTimeLeft);
}

}  // namespace
}  // namespace lathe::testing
