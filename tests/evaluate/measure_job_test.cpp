// Jobs and measurements as text: what another process reads is the same.
#include "evaluate/measure_job.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "lower/programs.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

MeasureJob sample_job() {
  Task task = task_of("C[i:40, j:50] = sum(r:30) A[i, r] * B[r, j]", {"B"});
  task.target = with_cores(detect_target().value(), 1);
  task.runs_cold = true;
  CheckedTask checked{std::make_shared<const Task>(task), 7, 1e-4};
  return {checked, write_program(task, parse_trace("split C i [8]").value()).value(), 2e-6};
}

TEST(MeasureJob, ReadsBackAsItWas) {
  MeasureJob job = sample_job();
  for (const bool has_tolerance : {true, false}) {
    if (!has_tolerance) job.checked.tolerance.reset();
    const Result<MeasureJob> read = parse_measure_job(print(job), "job");
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(print(*read), print(job));
    EXPECT_EQ(hash_of(*read->checked.task), hash_of(*job.checked.task));
    EXPECT_EQ(read->checked.task->target, job.checked.task->target);
    EXPECT_EQ(read->program->hash, job.program->hash);
    EXPECT_EQ(read->checked.seed, 7u);
    EXPECT_EQ(read->checked.tolerance, job.checked.tolerance);
    EXPECT_EQ(read->best_seconds, 2e-6);
  }
}

std::string fault_of(const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json object = nlohmann::json::parse(print(sample_job()));
  change(object);
  const Result<MeasureJob> read = parse_measure_job(object.dump(), "job 3");
  return read ? "" : read.error().to_string();
}

TEST(MeasureJob, WhatIsNoneIsNamed) {
  EXPECT_THAT(parse_measure_job("[1", "job 3").error().to_string(), ::testing::HasSubstr("job 3"));
  EXPECT_EQ(parse_measure_job("[]", "job 3").error().to_string(), "job 3: it is no object");
  EXPECT_EQ(fault_of([](auto& job) { job.erase("trace"); }), "job 3: it has no field 'trace'");
  EXPECT_EQ(fault_of([](auto& job) { job["seed"] = "x"; }), "job 3: its field 'seed' is string");
  EXPECT_EQ(fault_of([](auto& job) { job["best_seconds"] = -1; }), "job 3: its field 'best_seconds' is -1");
  EXPECT_THAT(fault_of([](auto& job) { job["trace"] = "split C q [8]"; }), ::testing::HasSubstr("q"));
  EXPECT_THAT(fault_of([](auto& job) { job["target"] = "toaster"; }), ::testing::HasSubstr("toaster"));
  EXPECT_THAT(fault_of([](auto& job) { job["task"]["dag"] = "C[i:40, j:50] = sum(r:31) A[i, r] * B[r, j]"; }),
              ::testing::HasSubstr("its text is that of task"));
}

TEST(MeasureJob, EveryTextIsAJobOrAnError) {
  Rng rng(1);
  const std::string text = print(sample_job());
  for (int i = 0; i < 3000; ++i) {
    std::string changed = text;
    for (uint64_t n = 1 + rng.below(3); n > 0; --n)
      changed[rng.below(changed.size())] = static_cast<char>(32 + rng.below(96));
    const Result<MeasureJob> read = parse_measure_job(changed, "job");
    EXPECT_TRUE(!read || parse_measure_job(print(*read), "job"));
  }
}

TEST(MeasurementText, ReadsBackAsItWas) {
  Measurement measured = measurement_of({1e-3, 1.5e-3, 1e-3});
  measured.timed_once = true;
  Measurement modelled;
  modelled.source = MeasureSource::modelled;
  modelled.seconds = 3e-5;
  for (const Measurement& measurement :
       {measured, modelled, failed_measurement(ErrorKind::wrong_result, "C[1] is \"nan\"")}) {
    const Result<Measurement> read = parse_measurement(print(measurement), "measurement");
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(*read, measurement);
  }
  EXPECT_EQ(parse_measurement(R"({"source": "guessed"})", "m").error().to_string(),
            "m: its field 'source' is 'guessed'");
  EXPECT_FALSE(parse_measurement(R"({"source": "measured", "samples": [null]})", "m"));
}

}  // namespace
}  // namespace lathe::testing
