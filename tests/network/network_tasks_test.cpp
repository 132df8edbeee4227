#include "network/network_tasks.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "expr/structural_hash.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"
#include "target/all.h"
#include "target/target.h"

namespace lathe {
namespace {

// Two products of `columns` columns by weights of their own.
NetworkTasks products(int64_t columns) {
  OnnxModel model;
  model.input("x", {1, 8, 8, columns})
      .initializer("v", {columns, columns})
      .initializer("w", {columns, columns});
  model.node("a", "MatMul", {"x", "v"}, "s")
      .node("r", "Relu", {"s"}, "t")
      .node("b", "MatMul", {"t", "w"}, "y");
  model.output("y");
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  const Partition parts = partition(graph).value();
  return network_tasks(graph, parts, generic_target("x86-avx2")).value();
}

// A records file keeps a task by its text: what that is read as must be the task itself.
TEST(NetworkTasks, AreWhatTheirTextsSay) {
  OnnxModel model;
  model.input("x", {1, 3, 3, 5, 1}).initializer("scales", {5}, {1, 1, 0.5F, 0.5F, 1});
  model.node("n", "Resize", {"x", "", "scales"}, "y").attribute("mode", "linear");
  model.attribute("coordinate_transformation_mode", "align_corners").output("y");
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  const Partition parts = partition(graph).value();
  const NetworkTasks network = network_tasks(graph, parts, generic_target("x86-avx2")).value();
  for (const WeightedTask& each : network.tasks) {
    const std::string text = to_string(each.task.dag);
    const Result<Dag> read = parse_dag(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(hash_of(*read), hash_of(each.task.dag)) << text;
  }
}

TEST(NetworkTasks, RunColdWhereConstantsExceedTheCaches) {
  const NetworkTasks small = products(64);
  ASSERT_FALSE(small.tasks.empty());
  for (const WeightedTask& entry : small.tasks) EXPECT_FALSE(entry.task.runs_cold);
  // 2 x 5 MiB: neither alone is too much.
  const NetworkTasks large = products(1152);
  ASSERT_FALSE(large.tasks.empty());
  for (const WeightedTask& entry : large.tasks) EXPECT_TRUE(entry.task.runs_cold);
}

// Between two steps of a recurrence only its own weights are read: however large the others are, they stay.
TEST(NetworkTasks, ALoopsBodyIsColdByItsOwnConstants) {
  for (const int64_t hidden : {64, 1024}) {
    OnnxModel model;
    model.input("x", {5, 1, 8}).input("v", {1, 1536}).initializer("m", {1536, 1536});
    model.initializer("w", {1, 4 * hidden, 8}).initializer("r", {1, 4 * hidden, hidden});
    model.node("l", "LSTM", {"x", "w", "r"}, "h").attribute("hidden_size", hidden);
    model.node("p", "MatMul", {"v", "m"}, "y").output("h").output("y");
    const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
    const Partition parts = partition(graph).value();
    const NetworkTasks network = network_tasks(graph, parts, generic_target("x86-avx2")).value();
    ASSERT_EQ(parts.loops.size(), 1U);
    for (const TaskUse& use : network.uses)
      EXPECT_EQ(network.tasks[use.task].task.runs_cold, !use.loop || hidden == 1024) << use.name;
  }
}

}  // namespace
}  // namespace lathe
