// Programs for the tests of schedules and of lowering: from a Dag's text and a trace's text, run by the
// interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "expr/parse.h"
#include "loop/interpret.h"
#include "loop/walk.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe::testing {

inline Task task_of(const std::string& dag_text, const std::vector<std::string>& constants = {}) {
  Result<Dag> dag = parse_dag(dag_text);
  EXPECT_TRUE(dag.has_value()) << dag.error().to_string();
  Result<Task> task = make_task("test", *dag, generic_target("x86-avx2"), constants);
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  return *task;
}

inline Program scheduled(const Task& task, const std::string& trace_text) {
  const Result<Trace> trace = parse_trace(trace_text);
  EXPECT_TRUE(trace.has_value()) << trace.error().to_string();
  const Result<Program> program = apply_trace(task, *trace);
  EXPECT_TRUE(program.has_value()) << program.error().to_string();
  return *program;
}

inline std::vector<HostTensor> inputs_of(const Program& program) {
  Rng rng(7);
  std::vector<HostTensor> inputs;
  for (const Argument& argument : program.arguments) {
    if (!argument.is_output) inputs.push_back(random_like(argument.tensor, rng));
  }
  return inputs;
}

inline std::vector<HostTensor> run(const Program& program, const std::string& what) {
  const Result<Interpretation> result = interpret(program, inputs_of(program));
  EXPECT_TRUE(result.has_value()) << what << ": " << result.error().to_string();
  return result ? result->outputs : std::vector<HostTensor>();
}

// The largest difference relative to the largest value; infinity where one is NaN and the other is not.
inline double difference(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  double worst = 0;
  double largest = 1e-30;
  for (size_t t = 0; t < a.size() && t < b.size(); ++t) {
    for (size_t i = 0; i < a[t].values.size(); ++i) {
      const double x = a[t].values[i];
      const double y = b[t].values[i];
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::infinity();
      worst = std::max(worst, std::abs(x - y));
      largest = std::max(largest, std::abs(x));
    }
  }
  return a.size() == b.size() ? worst / largest : std::numeric_limits<double>::infinity();
}

inline void expect_same_result(const Program& before, const Program& after, double tolerance = 1e-5) {
  EXPECT_LE(difference(run(before, "before"), run(after, "after")), tolerance);
}

// The nodes of one kind, in program order.
template <class Node>
std::vector<Node> all(const Stmt& stmt) {
  std::vector<Node> nodes;
  for_each(stmt, [&](const StmtNode& node) {
    if (const Node* found = std::get_if<Node>(&node.node)) nodes.push_back(*found);
  });
  return nodes;
}

}  // namespace lathe::testing
