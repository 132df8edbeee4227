// A formula in the place of a machine: a search finds what it likes best, and nothing is run.
#include "evaluate/modelled_evaluator.h"

#include <gtest/gtest.h>

#include "lower/programs.h"
#include "tune/tune.h"

namespace lathe::testing {
namespace {

TEST(ModelledEvaluator, ASearchIsLedByIt) {
  const Task task = task_of("C[i:64, j:64] = sum(r:64) A[i, r] * B[r, j]");
  const auto seconds = [](const Task&, const Written& written) -> Result<double> {
    return 1e-6 * static_cast<double>(1 + written.hash % 1000);
  };
  ModelledEvaluator evaluator(seconds);
  RecordStore records = RecordStore::open(":memory:").value();
  const auto results = tune_cases({task}, {}, {.trials = 30}, evaluator, records, {});
  ASSERT_TRUE(results) << results.error().to_string();
  double best = 1;
  const std::vector<Record> found = records.find({}).value();
  for (const Record& record : found) {
    EXPECT_EQ(record.measurement.source, MeasureSource::modelled);
    const auto written = write_program(task, parse_trace(record.trace).value());
    EXPECT_EQ(record.measurement.seconds, seconds(task, **written).value());
    best = std::min(best, record.measurement.seconds);
  }
  EXPECT_EQ(results->front().progress.trials, 30);
  EXPECT_EQ(results->front().progress.best_seconds, best);
  EXPECT_EQ(results->front().winner->only_sampled, "its time is modelled, and nothing was run");
}

TEST(ModelledEvaluator, WhatTheModelRefusesIsThatProgramsFailure) {
  ModelledEvaluator evaluator([](const Task&, const Written&) -> Result<double> {
    return fail(ErrorKind::build, "it takes 7 of 5 units");
  });
  const Task task = task_of("C[i:4] = A[i] + 1.0");
  MeasureJob job;
  job.checked.task = std::make_shared<const Task>(task);
  job.program = write_program(task, {}).value();
  const std::vector<MeasureJob> jobs(3, job);
  const auto outcomes = evaluator.evaluate(jobs, {});
  ASSERT_EQ(outcomes->size(), 3u);
  EXPECT_EQ(outcomes->back().measurement.failure,
            (MeasureFailure{ErrorKind::build, "it takes 7 of 5 units"}));
  EXPECT_TRUE(evaluator.evaluate(jobs, {.stop = [] { return true; }})->empty());
}

}  // namespace
}  // namespace lathe::testing
