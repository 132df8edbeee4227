// What is multiplied by zeros around an image, or between the taps of a phase, is left out: the condition
// stands at the loops that decide it, and the result stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/print.h"
#include "lower/lower.h"
#include "rewrite/same_result.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Task padded() {
  return task_of_workload(R"({"name":"c", "op":"conv2d", "batch":1, "height":4, "width":5, "in_channels":2,
                     "out_channels":3, "kernel":3, "stride":1, "padding":1})");
}

Task transposed() {
  return task_of_workload(
      R"({"name":"t", "op":"conv2d_transpose", "batch":1, "height":3, "width":4, "in_channels":2,
                     "out_channels":3, "kernel":3, "stride":2, "padding":1})");
}

std::string scheduled(const Task& task, const std::string& steps) {
  const Result<Program> program = apply_trace(task, parse_trace(steps).value());
  EXPECT_TRUE(program) << program.error().to_string();
  return program ? to_string(*program) : "";
}

void expect_same_lowered(const Task& task, const std::string& steps) {
  const Trace trace = parse_trace(steps).value();
  expect_same(task, trace);
  Rng rng(5);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : task.dag.inputs) inputs.push_back(random_like(input, rng));
  const Result<LoweredProgram> lowered = lower(apply_trace(task, trace).value(), task.target);
  ASSERT_TRUE(lowered) << lowered.error().to_string();
  const Result<Interpretation> direct = interpret(naive_program(task), inputs);
  const Result<Interpretation> skipping = interpret(lowered->program, inputs);
  ASSERT_TRUE(direct && skipping) << skipping.error().to_string();
  for (size_t i = 0; i < direct->outputs[0].values.size(); ++i)
    ASSERT_NEAR(direct->outputs[0].values[i], skipping->outputs[0].values[i], 1e-5) << i;
}

TEST(SkipZeros, RowsBesideTheImageAreSkipped) {
  const std::string steps = "reorder O n f y ky kx c x\nunroll O x\nskip_zeros O\n";
  const std::string text = scheduled(padded(), steps);
  EXPECT_THAT(text, HasSubstr("-y - ky + 1 < 1 neutral, y + ky - 5 < 0 neutral"));
  // Which columns are beside it hangs on a loop that is unrolled.
  EXPECT_THAT(text, Not(HasSubstr("x + kx - 6 < 0")));
  expect_same_lowered(padded(), steps);
}

TEST(SkipZeros, ASumOfNothingIsZero) {
  expect_same_lowered(padded(), "skip_zeros O\n");
  const Task beside = task_of_workload(R"({"name":"c", "op":"conv2d", "batch":1, "height":2, "width":2,
      "in_channels":2, "out_channels":3, "kernel":1, "stride":1, "padding":2})");
  expect_same_lowered(beside, "skip_zeros O\n");
  expect_same_lowered(beside, "cache_write O O.acc at=x scope=registers\nskip_zeros O\n");
}

TEST(SkipZeros, TapsThatAPhaseDoesNotHaveAreSkipped) {
  const std::string steps = "rewrite phases O\nskip_zeros O.P\n";
  EXPECT_THAT(scheduled(transposed(), steps), HasSubstr("neutral"));
  expect_same_lowered(transposed(), steps);
  expect_same_lowered(transposed(), "skip_zeros O\n");
}

TEST(SkipZeros, WhatHasNoZerosStaysAsItIs) {
  const Task task = task_of_workload(R"({"name":"m", "op":"matmul", "batch":1, "m":3, "n":4, "k":5})");
  EXPECT_EQ(scheduled(task, "skip_zeros C\n"), scheduled(task, ""));
}

TEST(SkipZeros, ABlockThatSumsNothingIsRefused) {
  const Result<Program> refused = apply_trace(padded(), parse_trace("skip_zeros I.pad\n").value());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "block 'I.pad' adds nothing up");
}

}  // namespace
}  // namespace lathe::testing
