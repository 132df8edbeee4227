// When a search ends because little is left to gain: what a task takes at least, and what the peaks decide.
#include "tune/stop_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/temporary_folder.h"
#include "expr/parse.h"
#include "ops/workloads.h"
#include "space/all.h"
#include "target/all.h"
#include "target/target.h"
#include "tune/in_process_runner.h"
#include "tune/tune.h"

namespace lathe::testing {
namespace {

constexpr Peaks kPeaks{100, 10};

Task task_of(const std::string& fields) {
  const auto workloads = parse_workloads(R"([{"name": "w", )" + fields + "}]", "test");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  Result<Task> task = make_task(workloads->front(), generic_target("x86-avx2"), true);
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

// To be computed directly: Strassen's algorithm takes fewer operations.
Task direct(Task task) {
  task.algorithm = kExactSpecials;
  return task;
}
Task product() { return direct(task_of(R"("op": "matmul", "batch": 1, "m": 128, "n": 128, "k": 64)")); }
constexpr double kOperations = 2.0 * 128 * 128 * 64;

double least(const Task& task, std::span<const Trial> trials) {
  const Result<Space> space = derive_space(task);
  EXPECT_TRUE(space) << space.error().to_string();
  return least_seconds(task, *space, trials, kPeaks);
}

TEST(LeastSeconds, OfAProductIsThatOfItsMultiplyAdds) {
  EXPECT_DOUBLE_EQ(least(product(), {}), kOperations / 100e9);
}

TEST(LeastSeconds, CountsSevenProductsOfQuartersForEight) {
  Task task = product();
  task.algorithm.clear();
  EXPECT_DOUBLE_EQ(least(task, {}), kOperations / 100e9 * 7 / 8);
}

// Four multiply-adds of VNNI take the place of one, two of what every target has.
TEST(LeastSeconds, CountsWhatAnIntrinsicDoesAtOnce) {
  const Dag dag = parse_dag(
                      "input A[64, 64] u8\ninput B[64, 64] i8\n"
                      "C[i:64, j:64] = sum(r:64) i32(A[i, r]) * i32(B[r, j])")
                      .value();
  const Target target = generic_target("x86-avx512");
  const double operations = 2.0 * 64 * 64 * 64;
  EXPECT_DOUBLE_EQ(least(make_task("t", dag, target).value(), {}), operations / 2 / 100e9);
  EXPECT_DOUBLE_EQ(least(make_task("t", dag, with_extensions(target, {"avx512_vnni"})).value(), {}),
                   operations / 4 / 100e9);
}

// Of three places' nine taps six are inside: one, three and two.
TEST(LeastSeconds, LeavesOutWhatIsKnownToBeZero) {
  const Task task =
      task_of(R"("op": "conv1d", "batch": 1, "length": 4, "in_channels": 64, "out_channels": 64, "kernel": 3,
                               "stride": 2, "padding": 2)");
  const double all = 2.0 * 64 * 64 * 3 * 3;
  const double seconds = least(task, {});
  EXPECT_LT(seconds, 0.72 * all / 100e9);
  EXPECT_GT(seconds, 0.62 * all / 100e9);
}

TEST(LeastSeconds, OfAProgramThatRunsColdIsThatOfItsBytesToo) {
  Task task = task_of(R"("op": "matmul", "batch": 1, "m": 1, "n": 512, "k": 512)");
  const double warm = least(task, {});
  task.runs_cold = true;
  task.arguments[1].is_constant = true;
  EXPECT_DOUBLE_EQ(warm, 2.0 * 512 * 512 / 100e9);
  EXPECT_DOUBLE_EQ(least(task, {}), 4.0 * (512 * 512 + 512) / 10e9);
}

// Every eighth place of an image, some rows of a table: what is left out is not read.
TEST(LeastSeconds, CountsBytesOfWhatIsReadWhole) {
  Task strided =
      task_of(R"("op": "conv2d", "batch": 1, "height": 64, "width": 64, "in_channels": 4, "out_channels": 4,
                            "kernel": 1, "stride": 8, "padding": 0)");
  strided.target.cpu().l3.bytes = 1024;
  const double results = 4.0 * 8 * 8 * 4;
  EXPECT_NEAR(least(strided, {}), std::max((results + 64 - 1024) / 10e9, results * 2 / 100e9), 1e-15);
  Task shifted = task_of(R"("op": "expression", "text": "O[i:8,j:64] = X[i+100,j] * 2")");
  shifted.target.cpu().l3.bytes = 1024;
  EXPECT_DOUBLE_EQ(least(shifted, {}), 1024 / 10e9);
  Task half = task_of(R"x("op": "expression", "text": "O[i:8,j:64] = select(j < 9, X[i,j], 0)")x");
  half.target.cpu().l3.bytes = 1024;
  EXPECT_DOUBLE_EQ(least(half, {}), 1024 / 10e9);
}

TEST(LeastSeconds, CountsAnAlgorithmThatWasTriedAndIsSlowNoMore) {
  const Task task = task_of(R"("op": "conv2d", "batch": 1, "height": 16, "width": 16, "in_channels": 32,
                               "out_channels": 32, "kernel": 3, "stride": 1, "padding": 1)");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  std::vector<Trial> trials;
  const auto try_all = [&](bool winograd, double seconds) {
    for (size_t s = 0; s < space->sketches().size(); ++s) {
      if (space->sketches()[s].name.starts_with("winograd") != winograd) continue;
      for (int i = 0; i < 4; ++i) trials.push_back({{static_cast<int>(s), {}}, seconds});
    }
  };
  const double untried = least(task, {});
  try_all(false, 1e-3);
  EXPECT_EQ(least(task, trials), untried);
  try_all(true, 1.2e-3);
  EXPECT_EQ(least(task, trials), untried) << "they may still come nearer";
  trials.clear();
  try_all(false, 1e-3);
  try_all(true, 1.3e-3);
  EXPECT_GT(least(task, trials), 1.5 * untried);
}

// Peaks as they are measured one after another, in GFLOP/s; fails after the last.
struct Measured {
  std::vector<double> gflops;
  size_t next = 0;

  StopRule rule(double share) {
    return {share, [this]() -> Result<Peaks> {
              if (next == gflops.size()) return fail(ErrorKind::io, "no room");
              return Peaks{gflops[next++], 10};
            }};
  }
};

double of_operations(const Peaks& peaks) { return 100 / (peaks.gflops * 1e9); }

TEST(StopRule, EndsASearchNearThePeak) {
  Measured measured{{100, 100}};
  StopRule rule = measured.rule(0.9);
  EXPECT_FALSE(rule.reached(1.2e-9, of_operations));
  EXPECT_EQ(measured.next, 1U);
  const auto reached = rule.reached(1.05e-9, of_operations);
  ASSERT_TRUE(reached);
  EXPECT_NEAR(*reached, 0.952, 0.001);
}

TEST(StopRule, MeasuresAgainBeforeItEndsASearch) {
  Measured measured{{80, 100, 70}};
  StopRule rule = measured.rule(0.9);
  EXPECT_FALSE(rule.reached(1.2e-9, of_operations)) << "the machine was slow at first";
  EXPECT_FALSE(rule.reached(1.2e-9, of_operations));
  EXPECT_EQ(measured.next, 2U) << "the peak that it knows says no";
  EXPECT_TRUE(rule.reached(1e-9, of_operations)) << "it counts the highest of the three";
}

TEST(StopRule, WhatIsFasterThanThePeaksAllowDoesNotEndASearch) {
  Measured measured{{100, 100, 100, 150}};
  StopRule rule = measured.rule(0.9);
  EXPECT_TRUE(rule.reached(0.99e-9, of_operations));
  EXPECT_FALSE(rule.reached(0.7e-9, of_operations));
  EXPECT_TRUE(rule.reached(0.7e-9, of_operations)) << "the machine was slow before";
}

TEST(StopRule, WithoutPeaksOrProgramsOrAShareSearchesGoOn) {
  Measured none{{}};
  EXPECT_FALSE(none.rule(0.9).reached(1e-12, of_operations));
  Measured measured{{100, 100}};
  EXPECT_FALSE(measured.rule(0.9).reached(0, of_operations));
  EXPECT_FALSE(StopRule().reached(1e-12, of_operations));
}

class RunWithStopRule : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<RecordStore> records = RecordStore::open(folder_.path() / "records.db");
    ASSERT_TRUE(records) << records.error().to_string();
    records_.emplace(std::move(*records));
    runner_.seconds = [](const Module&) { return kOperations / 95e9; };
  }

  TuneBudget budget(double share) {
    return {.trials = 16, .stop_rule = StopRule(share, [] { return Result<Peaks>(kPeaks); })};
  }

  TemporaryFolder folder_;
  std::optional<RecordStore> records_;
  InProcessRunner runner_;
  LocalEvaluator evaluator_{runner_};
};

TEST_F(RunWithStopRule, EndsAfterTheFirstBatchAndMeasuresNothingTheNextTime) {
  for (const bool is_first : {true, false}) {
    runner_.runs = 0;
    const auto results = tune_cases({product()}, {}, budget(0.9), evaluator_, *records_, {});
    ASSERT_TRUE(results) << results.error().to_string();
    EXPECT_EQ(results->front().progress.trials, 4);
    EXPECT_NEAR(results->front().reached.value_or(0), 0.95, 1e-6);
    EXPECT_EQ(runner_.runs > 0, is_first);
    EXPECT_EQ(results->front().winner.has_value(), is_first);
  }
}

TEST_F(RunWithStopRule, GoesOnWhereMoreIsLeft) {
  const auto results = tune_cases({product()}, {}, budget(0.96), evaluator_, *records_, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ(results->front().progress.trials, 16);
  EXPECT_FALSE(results->front().reached);
}

TEST_F(RunWithStopRule, LeavesANetworksTrialsToOtherTasks) {
  const Task other = direct(task_of(R"("op": "matmul", "batch": 1, "m": 256, "n": 128, "k": 64)"));
  runner_.seconds = [](const Module& module) {
    const bool is_other = std::ranges::any_of(
        module.buffers, [](const auto& buffer) { return buffer.bytes > int64_t{4} * 192 * 128; });
    return is_other ? 10 * kOperations / 95e9 : kOperations / 95e9;
  };
  for (const bool is_first : {true, false}) {
    runner_.runs = 0;
    const auto results = tune_network_tasks({{product(), 1}, {other, 1}}, "gradient", {}, budget(0.9),
                                            evaluator_, *records_, {});
    ASSERT_TRUE(results) << results.error().to_string();
    EXPECT_EQ((*results)[0].progress.trials, 4);
    EXPECT_EQ((*results)[0].reached.has_value(), is_first) << "the second time no trial is left";
    EXPECT_EQ((*results)[1].progress.trials, 28);
    EXPECT_FALSE((*results)[1].reached);
    EXPECT_EQ(runner_.runs > 0, is_first);
  }
}

}  // namespace
}  // namespace lathe::testing
