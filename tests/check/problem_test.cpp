// What candidates are checked against: which elements are compared and how closely.
#include "check/problem.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "check/tolerance.h"
#include "compile/compile.h"
#include "expr/parse.h"
#include "loop/evaluate.h"
#include "lower/programs.h"
#include "target/all.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"

namespace lathe::testing {
namespace {

std::vector<std::byte> as_bytes(const HostTensor& tensor) {
  const std::vector<float> values(tensor.values.begin(), tensor.values.end());
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

HostTensor read_input(const MeasureInput& input, const Tensor& tensor) {
  HostTensor result{tensor->dtype, tensor->shape, {}};
  std::vector<float> values(static_cast<size_t>(input.bytes) / sizeof(float));
  input.write(std::as_writable_bytes(std::span(values)));
  result.values.assign(values.begin(), values.end());
  return result;
}

TEST(Problem, ATaskThatRunsColdIsMeasuredSo) {
  Task task = task_of("C[i:4] = A[i] + 1.0");
  for (const bool cold : {false, true}) {
    task.runs_cold = cold;
    EXPECT_EQ(Problem::create(task)->inputs_for(naive_program(task), {}).runs_cold, cold);
  }
}

TEST(Problem, TakesTheRightResultAndNamesAWrongElement) {
  const Task task = task_of("C[i:3, j:4] = sum(r:5) A[i, r] * B[r, j]");
  Result<Problem> problem = Problem::create(task);
  ASSERT_TRUE(problem) << problem.error().to_string();
  const MeasureInputs inputs = problem->inputs_for(naive_program(task), {});
  ASSERT_GE(inputs.buffers.size(), 2u);
  const std::vector<HostTensor> values = {read_input(inputs.buffers[0], task.dag.inputs[0]),
                                          read_input(inputs.buffers[1], task.dag.inputs[1])};
  const Result<std::vector<HostTensor>> expected = evaluate(task.dag, values);
  ASSERT_TRUE(expected) << expected.error().to_string();
  std::vector<std::byte> bytes = as_bytes((*expected)[0]);
  const std::vector<std::span<const std::byte>> outputs = {bytes};
  EXPECT_TRUE(inputs.check(outputs));

  const float wrong = 100;
  std::memcpy(bytes.data() + 6 * sizeof wrong, &wrong, sizeof wrong);
  const Status status = inputs.check(outputs);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::wrong_result);
  EXPECT_NE(status.error().message.find("[1, 2]"), std::string::npos) << status.error().message;
}

// Half of the inputs drawn around zero have no square root and no logarithm.
TEST(Problem, DrawsPositiveInputsWhereOthersGiveNoNumber) {
  const Task task = task_of("o[i:64] = log(A[i]) + sqrt(A[i]) / A[i]");
  Result<Problem> problem = Problem::create(task);
  ASSERT_TRUE(problem) << problem.error().to_string();
  const MeasureInputs inputs = problem->inputs_for(naive_program(task), {});
  const HostTensor values = read_input(inputs.buffers[0], task.dag.inputs[0]);
  EXPECT_GT(std::ranges::min(values.values), 0);
  const Result<std::vector<HostTensor>> expected = evaluate(task.dag, std::vector{values});
  ASSERT_TRUE(expected) << expected.error().to_string();
  const std::vector<std::byte> bytes = as_bytes((*expected)[0]);
  EXPECT_TRUE(inputs.check(std::vector<std::span<const std::byte>>{bytes}));
}

// Of some hundred sums of random numbers a few come to almost nothing: what rounding leaves of them would be
// called wrong, whatever the program.
class CancellingSums : public ::testing::TestWithParam<const char*> {};

TEST_P(CancellingSums, AreDrawnAgain) {
  for (int count = 2; count < 300; ++count) {
    const Task task = task_of(fmt::format(fmt::runtime(GetParam()), count));
    Result<Problem> problem = Problem::create(task);
    ASSERT_TRUE(problem) << problem.error().to_string();
    const MeasureInputs inputs = problem->inputs_for(naive_program(task), {});
    float sum = 0;
    for (const double value : read_input(inputs.buffers[0], task.dag.inputs[0]).values) {
      sum += static_cast<float>(value);
    }
    const std::vector<float> sums(static_cast<size_t>(task.dag.outputs[0].elements()), sum);
    std::vector<std::byte> bytes(sums.size() * sizeof sum);
    std::memcpy(bytes.data(), sums.data(), bytes.size());
    const Status status = inputs.check(std::vector<std::span<const std::byte>>{bytes});
    EXPECT_TRUE(status) << count << ": " << status.error().to_string();
  }
}

// One sum, alone and many times over.
INSTANTIATE_TEST_SUITE_P(Problem, CancellingSums,
                         ::testing::Values("C[] = sum(r:{}) A[r]", "C[i:6, j:8] = sum(r:{}) A[r]"));

// A steep function magnifies every rounding, whatever is drawn.
TEST(Problem, WhatIsNeverSteadyIsStillCompared) {
  const Task task = task_of("C[] = sum(r:2) exp(50.0 * A[r])");
  EXPECT_TRUE(Problem::create(task));
}

TEST(Problem, WhatNoMachineHoldsIsRefusedBeforeItIsDrawn) {
  const Task task =
      make_task("huge", *parse_dag("Y[i:1000000, j:1000000] = max(X[i, j], 0.0)"), generic_target("x86-avx2"))
          .value();
  const Result<Problem> problem = Problem::create(task);
  ASSERT_FALSE(problem);
  EXPECT_THAT(
      problem.error().message,
      ::testing::StartsWith("checking a program of it takes 1.2e+04 GB of memory, and the machine has "));
}

// Of the large tensor on the way the sample needs a few elements, and the reference all.
TEST(Problem, WhatNoMachineHoldsInFullIsSampled) {
  const Task task = task_of("T[i:2000000000, j:150] = A[0] + 1.0\nC[i:10] = T[3 * i, i] * B[i]");
  Result<Problem> problem = Problem::create(task);
  ASSERT_TRUE(problem) << problem.error().to_string();
  InProcessRunner runner;
  const Result<Module> module = compile(task, {});
  ASSERT_TRUE(module) << module.error().to_string();
  const Result<FullCheck> check = problem->check_in_full(naive_program(task), {}, *module, runner);
  ASSERT_TRUE(check) << check.error().to_string();
  EXPECT_THAT(*check->unfinished, ::testing::StartsWith("checking all elements of it takes 4.8e+03 GB of "));
}

// Numbers in formulas are rounded to their types, and a cast ends at the largest i64, which no double is.
TEST(Problem, RightProgramsPassAtTheEndsOfTypes) {
  for (const char* text :
       {"Y[i:9] = select(X[i] < 2.0, i32(16777217.0), 0)",
        "Y[i:9] = select(16777217.0 == 16777216.0, X[i], 7.0)", "Y[i:9] = i64(123456789.0)",
        "Y[i:9] = f64(f32(0.1)) + f64(X[i])", "Y[i:9] = i64(9.2e18)", "Y[i:9] = i64(X[i] * 1e30)",
        "input X[9] f64; Y[i:9] = i64(X[i] * 1e30)", "Y[i:9] = i64(inf)", "Y[i:9] = i64(-inf)"}) {
    SCOPED_TRACE(text);
    const Task task = task_of(text);
    Result<Problem> problem = Problem::create(task);
    ASSERT_TRUE(problem) << problem.error().to_string();
    const Program program = naive_program(task);
    const Result<Module> module = compile(task, {});
    ASSERT_TRUE(module) << module.error().to_string();
    InProcessRunner runner;
    const auto sampled = runner.verify(*module, problem->inputs_for(program, {}));
    ASSERT_TRUE(sampled) << sampled.error().to_string();
    EXPECT_FALSE(*sampled) << (*sampled)->message;
    const Result<FullCheck> full = problem->check_in_full(program, {}, *module, runner);
    ASSERT_TRUE(full) << full.error().to_string();
    EXPECT_FALSE(full->failure) << full->failure->message;
    EXPECT_FALSE(full->unfinished) << *full->unfinished;
  }
}

TEST(Problem, WhatCannotBeComparedIsNamed) {
  const auto error_of = [](const std::string& text) {
    return Problem::create(task_of(text)).error().message;
  };
  EXPECT_EQ(error_of("o[i:8] = A[i] / (A[i] - A[i])"),
            "output 'o' is infinite or no number for random inputs: programs cannot be compared");
  EXPECT_EQ(error_of("o[i:8] = log(A[i]) + log(0.0 - A[i])"),
            "output 'o' is infinite or no number for random inputs: programs cannot be compared");
  EXPECT_EQ(error_of("input A[8] i64; o[i:8] = A[i] * 4000000000000000 * 100"),
            "output 'o' follows from integers beyond 2^53: programs cannot be compared");
  EXPECT_EQ(
      error_of("o[i:8] = i32(floor(A[i] * 100000000.0))"),
      "output 'o' hangs on how the floats that it follows from are rounded: programs cannot be compared");
}

// A matmul large enough that most of its elements are not sampled.
Task large_matmul() {
  Task task = task_of("C[i:90, j:100] = sum(r:5) A[i, r] * B[r, j]");
  task.target = with_cores(detect_target().value(), 1);
  return task;
}

// Neither is what was not compared called right, nor the program wrong.
TEST(Problem, ACheckThatThereIsNoTimeForIsUnfinished) {
  const Task task = task_of("C[i:700, j:40] = sum(r:50) A[i, r] * B[r, j]");
  const Program program = naive_program(task);
  const Result<Module> module = compile(task, {});
  ASSERT_TRUE(module) << module.error().to_string();
  Result<Problem> problem = Problem::create(task);
  ASSERT_TRUE(problem) << problem.error().to_string();
  InProcessRunner runner;
  const Result<FullCheck> late =
      problem->check_in_full(program, {}, *module, runner, {.deadline = Deadline::in(0)});
  ASSERT_TRUE(late) << late.error().to_string();
  EXPECT_EQ(late->unfinished, "there is no time left to compute the reference of C");
  EXPECT_FALSE(late->failure);
  const Result<FullCheck> stopped =
      problem->check_in_full(program, {}, *module, runner, {.stop = [] { return true; }});
  ASSERT_TRUE(stopped) << stopped.error().to_string();
  EXPECT_TRUE(stopped->unfinished);
  EXPECT_EQ(runner.runs, 0);

  std::vector<std::string> told;
  Watch watch;
  watch.observer = [&](const WorkState& state) { told.push_back(state.what); };
  const Result<FullCheck> whole = problem->check_in_full(program, {}, *module, runner, watch);
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_FALSE(whole->unfinished);
  EXPECT_FALSE(whole->failure);
  EXPECT_EQ(told, std::vector<std::string>{"the reference of C is computed"});
}

TEST(Problem, ASampledCheckRunsTheProgramOnce) {
  const Task task = large_matmul();
  const Program program = naive_program(task);
  const Result<Module> module = compile(task, {});
  ASSERT_TRUE(module) << module.error().to_string();
  Result<Problem> problem = Problem::create(task);
  ASSERT_TRUE(problem) << problem.error().to_string();
  InProcessRunner runner;
  EXPECT_FALSE(problem->check_sampled(program, {}, *module, runner)->has_value());
  EXPECT_EQ(runner.runs, 1);
  runner.spoil = [&](const Module&, const MeasureInputs&, const Outputs& outputs) {
    spoil_element(outputs, 0);
  };
  EXPECT_EQ(problem->check_sampled(program, {}, *module, runner)->value().kind, ErrorKind::wrong_result);
}

TEST(Problem, AFullCheckFindsTheOneElementThatSamplingMisses) {
  const Task task = large_matmul();
  const Program program = naive_program(task);
  const Result<Module> module = compile(task, {});
  ASSERT_TRUE(module) << module.error().to_string();
  Result<Problem> problem = Problem::create(task);
  ASSERT_TRUE(problem) << problem.error().to_string();
  InProcessRunner runner;
  const Result<FullCheck> right = problem->check_in_full(program, {}, *module, runner);
  ASSERT_TRUE(right) << right.error().to_string();
  EXPECT_FALSE(right->failure) << right->failure->message;
  EXPECT_LE(right->largest_difference, right->tolerance);
  EXPECT_EQ(right->tolerance, relative_tolerance(task.dag, {}));

  int64_t place = -1;
  runner.spoil = [&](const Module&, const MeasureInputs& inputs, const Outputs& outputs) {
    if (place < 0) place = place_that_sampling_misses(inputs, outputs);
    if (place >= 0) spoil_element(outputs, place);
  };
  const auto sampled = runner.verify(*module, problem->inputs_for(program, {}));
  ASSERT_TRUE(sampled) << sampled.error().to_string();
  ASSERT_GE(place, 0);
  EXPECT_FALSE(sampled->has_value());
  const Result<FullCheck> wrong = problem->check_in_full(program, {}, *module, runner);
  ASSERT_TRUE(wrong) << wrong.error().to_string();
  ASSERT_TRUE(wrong->failure);
  EXPECT_EQ(wrong->failure->kind, ErrorKind::wrong_result);
  const int64_t position = place / static_cast<int64_t>(sizeof(float));
  const std::string element = "C[" + std::to_string(position / 100) + ", " + std::to_string(position % 100) +
                              "] is 100 where the reference is ";
  EXPECT_NE(wrong->failure->message.find(element), std::string::npos) << wrong->failure->message;
  EXPECT_GT(wrong->largest_difference, 1);
}

// A formula as this machine computes it, and what its programs are checked by: one at a time, or in full.
class NaiveProgram {
 public:
  explicit NaiveProgram(const std::string& text)
      : task_([&] {
          Task task = task_of(text);
          task.target = with_cores(detect_target().value(), 1);
          return task;
        }()),
        program_(naive_program(task_)),
        module_(compile(task_, {}).value()),
        problem_(Problem::create(task_).value()) {}

  std::optional<MeasureFailure> failure(InProcessRunner& runner, bool in_full) {
    return in_full ? problem_.check_in_full(program_, {}, module_, runner)->failure
                   : runner.verify(module_, problem_.inputs_for(program_, {})).value();
  }

 private:
  Task task_;
  Program program_;
  Module module_;
  Problem problem_;
};

// What an element may be off is asked for only where it seems wrong, and may take long.
TEST(Problem, AComparisonOfSampledElementsCanBeStopped) {
  Task task = task_of("T[i:2000] = sum(j:2000) abs(A[i] - A[j])\nC[k:9] = sum(r:2000) T[r] * B[k]");
  task.target = with_cores(detect_target().value(), 1);
  const Result<Module> module = compile(task, {});
  ASSERT_TRUE(module) << module.error().to_string();
  Result<Problem> problem = Problem::create(task);
  ASSERT_TRUE(problem) << problem.error().to_string();
  InProcessRunner runner;
  runner.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
    const float wrong = 1;
    std::memcpy(outputs.front().data(), &wrong, sizeof wrong);
  };
  int asked = 0;
  const Watch watch{.stop = [&] { return ++asked > 3; }};
  const auto stopped = runner.verify(*module, problem->inputs_for(naive_program(task), {}, watch));
  ASSERT_TRUE(stopped && *stopped);
  EXPECT_EQ((*stopped)->kind, ErrorKind::timeout) << (*stopped)->message;
  EXPECT_EQ(asked, 4);
  const auto whole = runner.verify(*module, problem->inputs_for(naive_program(task), {}));
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ((*whole)->kind, ErrorKind::wrong_result) << (*whole)->message;
}

// Nothing of them is left but roundings, which are of no program alike.
class WhatCancels : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Problem, WhatCancels,
    ::testing::Values(
        "O[] = sum(r:16) A[r] - A[15 - r]",
        "m[i:9] = sum(r:50) A[i, r] / 50.0\nO[i:9] = sum(r:50) A[i, r] - m[i]",
        "E[i:9, r:33] = exp(A[i, r])\nT[i:9] = sum(r:33) E[i, r]\nP[i:9, r:33] = E[i, r] / T[i]\n"
        "S[i:9] = sum(r:33) P[i, r]\nO[i:9, j:70, k:3] = (S[i] - 1.0) * B[j, k]",
        "a[i:9] = sum(r:50) X[i, r] * Y[i, r]\nb[i:9] = sum(r:50) Y[i, 49 - r] * X[i, 49 - r]\nO[i:9] = a[i] "
        "- b[i]"));

// Of these some elements cancel and others do not.
INSTANTIATE_TEST_SUITE_P(
    InPart, WhatCancels,
    ::testing::Values(
        "S[i:64, j:8] = sum(r:200) A[i, r] * B[r, j]\nU[i:64, j:8] = sum(r:200) A[i, 199 - r] * B[199 - r, "
        "j]\n"
        "O[i:64, j:8] = select(i < 40, 0.001 * A[i, j], 1000.0 * (S[i, j] - U[i, j]))",
        "S[i:16] = sum(r:64) (A[i, r] + 10.0)\nO[i:16] = S[i] - 640.0",
        "m[i:9] = sum(r:64) A[i, r] + 5.0\nq[i:9] = sum(r:64) (A[i, r] + 5.0) * (A[i, r] + 5.0)\n"
        "O[i:9] = q[i] / 64.0 - (m[i] / 64.0) * (m[i] / 64.0)",
        "m[i:9] = sum(r:64) A[i, r] + 100.0\nO[i:9, r:64] = A[i, r] + 100.0 - m[i] / 64.0",
        "m[i:9] = sum(r:512) A[i, r] + 100.0\nq[i:9] = sum(r:512) (A[i, r] + 100.0) * (A[i, r] + 100.0)\n"
        "O[i:9] = q[i] / 512.0 - (m[i] / 512.0) * (m[i] / 512.0)"));

TEST_P(WhatCancels, IsRightAndWhatIsLeftByAMistakeIsNot) {
  for (const bool in_full : {false, true}) {
    NaiveProgram naive(GetParam());
    InProcessRunner runner;
    const std::optional<MeasureFailure> right = naive.failure(runner, in_full);
    EXPECT_FALSE(right) << right->message;
    runner.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
      const float wrong = 1;
      std::memcpy(outputs.front().data(), &wrong, sizeof wrong);
    };
    EXPECT_TRUE(naive.failure(runner, in_full)) << in_full;
  }
}

// Bounds and masks are large, and no part of what is added up, or 0 there.
class WhatIsChosen : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Problem, WhatIsChosen,
    ::testing::Values(
        "S[i:64, j:8] = sum(r:64) A[i, r] * B[r, j]\nO[i:64, j:8] = max(S[i, j], -1e18)",
        "S[i:64, j:8] = sum(r:64) A[i, r] * B[r, j]\nO[i:64, j:8] = min(max(S[i, j], 0.0), 65504.0)",
        "O[i:64] = max(r:64) select(A[i, r] < 0.0, -1e9, A[i, r])", "O[i:64] = min(r:400) abs(A[i] - B[r])",
        "O[i:64, j:8] = min(max(A[i, j], -1e6), 1e6)", "O[i:64, j:64] = select(j <= i, A[i, j], -1e9)",
        "M[j:64] = select(j < 60, 1.0, 0.0)\n"
        "O[i:64, j:64] = max(A[i, j] + (1.0 - M[j]) * -1e9, 0.0)"));

// Nor do long sums forgive more than others: what moves their terms is none of the data's random numbers.
INSTANTIATE_TEST_SUITE_P(LongSums, WhatIsChosen,
                         ::testing::Values("C[i:64] = sum(r:4096) A[i, r]",
                                           "C[i:64] = sum(r:64, q:64) A[i, r, q]",
                                           "C[i:64] = sum(r:4096) A[i, r] * abs(B[r])",
                                           "C[i:64] = sum(r:4096) tanh(A[i, r])",
                                           "S[i:512] = sum(r:4096) A[i, r]\nC[i:512] = A[i, 0] - S[i]"));

TEST_P(WhatIsChosen, IsWrongWhereItIsOffByAThousandth) {
  NaiveProgram naive(GetParam());
  InProcessRunner runner;
  EXPECT_FALSE(naive.failure(runner, false));
  runner.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
    auto* values = reinterpret_cast<float*>(outputs.front().data());
    for (size_t i = 0; i < outputs.front().size() / sizeof(float); ++i) values[i] *= 1.001F;
  };
  EXPECT_TRUE(naive.failure(runner, false));
  EXPECT_TRUE(naive.failure(runner, true));
}

TEST(Problem, AnOutputThatAMaskMakesMostlyInfiniteIsCompared) {
  EXPECT_TRUE(Problem::create(task_of("O[i:9, j:33] = select(j <= i, A[i, j], -inf)")));
}

TEST(Problem, TheToleranceGivenTakesThePlaceOfItsOwn) {
  const Task task = large_matmul();
  const Program program = naive_program(task);
  const Result<Module> module = compile(task, {});
  ASSERT_TRUE(module) << module.error().to_string();
  InProcessRunner runner;
  const auto outcome = [&](double tolerance, bool in_full) {
    ProblemOptions options;
    options.tolerance = tolerance;
    Result<Problem> problem = Problem::create(task, options);
    EXPECT_TRUE(problem) << problem.error().to_string();
    if (!in_full) return runner.verify(*module, problem->inputs_for(program, {}))->has_value();
    const Result<FullCheck> check = problem->check_in_full(program, {}, *module, runner);
    EXPECT_EQ(check->tolerance, tolerance);
    return check->failure.has_value();
  };
  for (const bool in_full : {false, true}) {
    EXPECT_TRUE(outcome(1e-12, in_full)) << in_full;  // closer than f32 can be
    EXPECT_FALSE(outcome(1e-5, in_full)) << in_full;
  }
}

}  // namespace
}  // namespace lathe::testing
