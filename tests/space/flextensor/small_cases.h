// Small operators of every kind that the space `flextensor` is for, and whether a program of one computes
// what the operator's formula does, as scheduled and as lowered.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "expr/index_limit.h"
#include "expr/parse.h"
#include "loop/interpret.h"
#include "lower/lower.h"
#include "ops/all.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe::testing {

struct FlextensorCase {
  const char* op;
  const char* parameters;
};
inline constexpr FlextensorCase kFlextensorCases[] = {
    {"gemv", R"({"m": 24, "k": 12})"},
    {"matmul", R"({"batch": 1, "m": 12, "n": 24, "k": 18})"},
    {"matmul", R"({"batch": 2, "m": 8, "n": 16, "k": 6})"},
    {"bilinear", R"({"batch": 4, "out_features": 16, "in1_features": 6, "in2_features": 4})"},
    {"conv1d",
     R"({"batch": 2, "length": 24, "in_channels": 6, "out_channels": 16, "kernel": 3, "stride": 2, "padding": 1})"},
    {"conv1d_transpose",
     R"({"batch": 1, "length": 8, "in_channels": 6, "out_channels": 12, "kernel": 4, "stride": 2, "padding": 1})"},
    {"conv2d",
     R"({"batch": 1, "height": 12, "width": 8, "in_channels": 6, "out_channels": 16, "kernel": 3, "stride": 1, "padding": 1})"},
    {"conv2d",
     R"({"batch": 1, "height": 8, "width": 8, "in_channels": 8, "out_channels": 16, "kernel": 3, "stride": 1, "padding": 2, "dilation": 2})"},
    {"conv2d",
     R"({"batch": 1, "height": 8, "width": 6, "in_channels": 8, "out_channels": 24, "kernel": 3, "stride": 1, "padding": 1, "groups": 2})"},
    {"conv2d_transpose",
     R"({"batch": 1, "height": 4, "width": 4, "in_channels": 4, "out_channels": 8, "kernel": 4, "stride": 2, "padding": 1})"},
    {"conv3d",
     R"({"batch": 1, "depth": 4, "height": 4, "width": 6, "in_channels": 4, "out_channels": 8, "kernel": 3, "stride": 1, "padding": 1})"},
    {"conv3d_transpose",
     R"({"batch": 1, "depth": 2, "height": 3, "width": 2, "in_channels": 4, "out_channels": 4, "kernel": 2, "stride": 2, "padding": 0})"},
    {"depthwise_conv2d",
     R"({"batch": 1, "height": 8, "width": 12, "channels": 8, "multiplier": 2, "kernel": 3, "stride": 1, "padding": 1})"},
    {"block_circulant_matrix", R"({"rows": 16, "cols": 24, "block": 4})"},
    {"shift_conv2d", R"({"batch": 1, "height": 6, "width": 8, "channels": 16, "kernel": 3})"},
    {"conv2d_bn_relu",
     R"({"batch": 1, "height": 8, "width": 6, "in_channels": 6, "out_channels": 16, "kernel": 3, "stride": 1, "padding": 1})"},
    {"transpose_batch_matmul_softmax", R"({"batch": 1, "sequence": 12, "heads": 2, "head_dim": 8})"},
    {"capsule_conv2d",
     R"({"batch": 1, "height": 4, "width": 4, "in_channels": 2, "out_channels": 4, "kernel": 3, "stride": 1, "padding": 1, "capsule": 2})"},
    {"frobenius_norm", R"({"batch": 4, "m": 6, "n": 8})"},
};

inline Task task_of_case(const FlextensorCase& small, const char* target, int cores, bool free_layouts) {
  const Result<Operator> made = make_operator(small.op, nlohmann::json::parse(small.parameters));
  EXPECT_TRUE(made) << made.error().to_string();
  return make_task(small.op, made->dag, with_cores(generic_target(target), cores), made->constants,
                   free_layouts)
      .value();
}

// A task with what its formula makes of some inputs.
class FlextensorReference {
 public:
  explicit FlextensorReference(Task task) : task_(std::move(task)) {
    Rng rng(5);
    const std::vector<Interval> indices = index_values(task_.dag);
    for (const Tensor& input : task_.dag.inputs)
      inputs_.push_back(random_within(input, rng, indices[inputs_.size()]));
    outputs_ = interpret(naive_program(task_), inputs_)->outputs;
  }
  const Task& task() const { return task_; }

  void expect_same(const Trace& trace, bool lowers) const {
    const Result<Program> program = apply_trace(task_, trace);
    ASSERT_TRUE(program) << program.error().to_string() << "\n" << to_string(trace);
    expect_outputs(*program, trace);
    if (!lowers) return;
    const Result<LoweredProgram> lowered = lower(*program, task_.target);
    ASSERT_TRUE(lowered) << lowered.error().to_string() << "\n" << to_string(trace);
    expect_outputs(lowered->program, trace);
  }

 private:
  void expect_outputs(const Program& program, const Trace& trace) const {
    const Result<Interpretation> run = interpret(program, inputs_);
    ASSERT_TRUE(run) << run.error().to_string() << "\n" << to_string(trace);
    ASSERT_EQ(run->outputs[0].values.size(), outputs_[0].values.size());
    for (size_t i = 0; i < outputs_[0].values.size(); ++i) {
      const double value = outputs_[0].values[i];
      ASSERT_NEAR(value, run->outputs[0].values[i], 1e-4 * std::max(1.0, std::abs(value)))
          << task_.name << " at " << i << "\n"
          << to_string(trace);
    }
  }

  Task task_;
  std::vector<HostTensor> inputs_;
  std::vector<HostTensor> outputs_;
};

}  // namespace lathe::testing
