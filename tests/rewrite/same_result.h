// A rewritten task computes what its direct form does, shown by the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "loop/interpret.h"
#include "ops/workloads.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe::testing {

inline Task task_of_workload(const std::string& workload) {
  const Result<std::vector<Workload>> workloads = parse_workloads("[" + workload + "]", "same_result");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  Result<Task> task = make_task(workloads->front(), generic_target("x86-avx2"), true);
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

inline void expect_same(const Task& task, const Trace& trace) {
  Rng rng(3);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : task.dag.inputs) inputs.push_back(random_like(input, rng));
  const Result<Program> program = apply_trace(task, trace);
  ASSERT_TRUE(program) << program.error().to_string() << "\n" << to_string(trace);
  const Result<Interpretation> direct = interpret(naive_program(task), inputs);
  const Result<Interpretation> rewritten = interpret(*program, inputs);
  ASSERT_TRUE(direct && rewritten);
  ASSERT_EQ(direct->outputs[0].values.size(), rewritten->outputs[0].values.size());
  for (size_t i = 0; i < direct->outputs[0].values.size(); ++i) {
    const double value = direct->outputs[0].values[i];
    ASSERT_NEAR(value, rewritten->outputs[0].values[i], 1e-5 * std::max(1.0, std::abs(value))) << i;
  }
}

}  // namespace lathe::testing
