// Operators of [B] V with small extents, and what a trace makes of one in every form.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "loop/interpret.h"
#include "lower/lower.h"
#include "ops/workloads.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe::testing {

inline constexpr std::array kSmallOperators = {
    R"({"name":"C1D", "op":"conv1d", "batch":1, "length":12, "in_channels":4, "out_channels":16, "kernel":3,
        "stride":2, "padding":1})",
    R"({"name":"C2D", "op":"conv2d", "batch":2, "height":6, "width":8, "in_channels":4, "out_channels":8,
        "kernel":3, "stride":1, "padding":1})",
    R"({"name":"C3D", "op":"conv3d", "batch":1, "depth":4, "height":4, "width":4, "in_channels":2,
        "out_channels":8, "kernel":3, "stride":2, "padding":1})",
    R"({"name":"GMM", "op":"matmul", "batch":1, "m":12, "n":24, "k":8})",
    R"({"name":"GMMs", "op":"matmul", "batch":2, "m":8, "n":6, "k":8})",
    R"({"name":"GRP", "op":"conv2d", "batch":1, "height":6, "width":6, "in_channels":8, "out_channels":16,
        "kernel":3, "stride":1, "padding":1, "groups":2})",
    R"({"name":"DIL", "op":"conv2d", "batch":1, "height":8, "width":8, "in_channels":3, "out_channels":8,
        "kernel":3, "stride":1, "padding":1, "dilation":2})",
    R"({"name":"DEP", "op":"depthwise_conv2d", "batch":2, "height":6, "width":6, "channels":12, "kernel":3,
        "stride":1, "padding":1})",
    R"({"name":"T2D", "op":"conv2d_transpose", "batch":1, "height":4, "width":4, "in_channels":6,
        "out_channels":8, "kernel":4, "stride":2, "padding":1})",
    R"({"name":"CAP", "op":"capsule_conv2d", "batch":1, "height":4, "width":4, "in_channels":2,
        "out_channels":8, "kernel":3, "stride":1, "padding":1, "capsule":2})",
    R"({"name":"NRM", "op":"frobenius_norm", "batch":3, "m":8, "n":12})",
    R"({"name":"ConvLayer", "op":"conv2d_bn_relu", "batch":2, "height":6, "width":6, "in_channels":4,
        "out_channels":16, "kernel":3, "stride":1, "padding":1})",
    R"({"name":"TBS", "op":"transpose_batch_matmul_softmax", "batch":1, "sequence":8, "heads":2,
        "head_dim":4})",
};

inline Task small_task(const std::string& workload, int cores = 2, bool free_layouts = true) {
  const Result<std::vector<Workload>> workloads = parse_workloads("[" + workload + "]", "small_operators");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  Result<Task> task =
      make_task(workloads->front(), with_cores(generic_target("x86-avx2"), cores), free_layouts);
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

inline void expect_close(const Interpretation& expected, const Interpretation& got,
                         const std::string& where) {
  for (size_t output = 0; output < expected.outputs.size(); ++output) {
    const auto& values = expected.outputs[output].values;
    ASSERT_EQ(values.size(), got.outputs[output].values.size());
    double largest = 1;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], got.outputs[output].values[i], 1e-5 * largest) << i << "\n" << where;
  }
}

// The naive program, the scheduled one and the lowered one give the same, whichever core is the first.
inline void expect_same_in_every_form(const Task& task, const Trace& trace) {
  const std::string where = to_string(trace);
  Rng rng(3);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : task.dag.inputs) inputs.push_back(random_like(input, rng));
  const Result<Program> program = apply_trace(task, trace);
  ASSERT_TRUE(program) << program.error().to_string() << "\n" << where;
  const Result<LoweredProgram> lowered = lower(*program, task.target);
  ASSERT_TRUE(lowered) << lowered.error().to_string() << "\n" << where;
  const Result<Interpretation> naive = interpret(naive_program(task), inputs);
  const InterpretOptions in_any_order{.shuffle = &rng};
  const Result<Interpretation> scheduled = interpret(*program, inputs, in_any_order);
  const Result<Interpretation> plain = interpret(lowered->program, inputs, in_any_order);
  ASSERT_TRUE(naive) << naive.error().to_string();
  ASSERT_TRUE(scheduled) << scheduled.error().to_string() << "\n" << where;
  ASSERT_TRUE(plain) << plain.error().to_string() << "\n" << where;
  expect_close(*naive, *scheduled, where);
  expect_close(*naive, *plain, where);
}

}  // namespace lathe::testing
