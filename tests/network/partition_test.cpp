#include "network/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

Graph import(const OnnxModel& model) { return simplify(import_onnx_bytes(model.bytes(), "m.onnx").value()); }

// The network run task by task through the interpreter, in one arena, against the reference; gives the
// partition.
Partition checked(const Graph& graph, const std::vector<Values>& inputs) {
  Result<Partition> result = partition(graph);
  if (!result) throw std::runtime_error(result.error().to_string());
  const std::vector<Values> expected = evaluate_graph(graph, inputs).value();
  EXPECT_LE(relative_difference(run_partition(graph, *result, inputs), expected), 2e-6);
  return std::move(*result);
}

Partition checked(const Graph& graph) { return checked(graph, random_inputs(graph, 3)); }

// Two equal residual blocks with other weights, then a plain convolution, average, product.
OnnxModel residual_model() {
  OnnxModel model;
  model.input("x", {1, 4, 6, 5}).initializer("m", {3, 4}).initializer("mb", {3});
  std::string last = "x";
  for (const std::string block : {"one", "two"}) {
    model.initializer(block + "w", {4, 4, 3, 3}).initializer(block + "b", {4});
    model.node(block + "c", "Conv", {last, block + "w", block + "b"}, block + "t")
        .attribute("pads", {1, 1, 1, 1});
    model.node(block + "a", "Add", {block + "t", last}, block + "s")
        .node(block + "r", "Relu", {block + "s"}, block);
    last = block;
  }
  model.initializer("w", {4, 4, 3, 3}).node("plain", "Conv", {last, "w"}, "p").attribute("strides", {2, 2});
  model.node("max", "MaxPool", {"p"}, "q").attribute("kernel_shape", {2, 2}).attribute("pads", {1, 1, 1, 1});
  model.node("mean", "GlobalAveragePool", {"q"}, "g").node("flat", "Flatten", {"g"}, "f");
  model.node("product", "Gemm", {"f", "m", "mb"}, "y").attribute("transB", 1).output("y");
  return model;
}

TEST(Partition, CountsEqualGroupsOnce) {
  const Graph graph = import(residual_model());
  const Partition parts = checked(graph);
  ASSERT_EQ(parts.tasks.size(), 5U);
  EXPECT_EQ(parts.uses.size(), 6U);
  EXPECT_EQ(parts.tasks[0].name, "onec");
  EXPECT_EQ(parts.tasks[0].weight, 2);
  EXPECT_EQ(parts.tasks[0].constants, (std::vector<std::string>{"W0", "W1"}));
  for (size_t t = 1; t < parts.tasks.size(); ++t) EXPECT_EQ(parts.tasks[t].weight, 1);
}

TEST(Partition, UsesNameTheOperatorsOfTheirNodes) {
  const Partition parts = partition(import(residual_model())).value();
  ASSERT_EQ(parts.uses.size(), 6U);
  EXPECT_EQ(parts.uses[1].operators, (std::vector<std::string>{"Conv", "Add", "Relu"}));
  EXPECT_EQ(parts.uses[2].operators, (std::vector<std::string>{"Conv"}));
  EXPECT_EQ(parts.uses[5].operators, (std::vector<std::string>{"Gemm"}));
}

TEST(Partition, RolesTellTasksApart) {
  OnnxModel model;
  model.input("x", {2, 3}).input("v", {3, 2}).initializer("w", {3, 2});
  model.node("a", "MatMul", {"x", "v"}, "y").node("b", "MatMul", {"x", "w"}, "z").output("y").output("z");
  EXPECT_EQ(checked(import(model)).tasks.size(), 2U);
}

TEST(Partition, LowersEveryOperatorAndEpilogue) {
  OnnxModel model;
  model.input("x", {2, 4, 7, 6}).initializer("w", {6, 2, 3, 2}).initializer("b", {6}).initializer("row", {3});
  model.initializer("s", {6}).initializer("h", {6}).initializer("m", {6}).initializer("v", {6},
                                                                                      {1, 2, 3, 4, 5, 6});
  model.node("c", "Conv", {"x", "w", "b"}, "t").attribute("group", 2).attribute("dilations", {2, 1});
  model.attribute("strides", {1, 2}).attribute("pads", {2, 0, 1, 1}).node("r", "Relu", {"t"}, "u");
  model.node("n", "BatchNormalization", {"u", "s", "h", "m", "v"}, "k")
      .node("a", "Add", {"row", "k"}, "y")
      .output("y");
  EXPECT_EQ(checked(import(model)).tasks.size(), 1U);
}

TEST(Partition, LowersOneAndThreeSpatialAxes) {
  OnnxModel model;
  model.input("x", {1, 2, 9})
      .input("v", {1, 2, 4, 3, 3})
      .initializer("w", {3, 2, 2})
      .initializer("k", {2, 2, 2, 2, 1});
  model.node("a", "Conv", {"x", "w"}, "y")
      .node("b", "Conv", {"v", "k"}, "t")
      .node("g", "GlobalAveragePool", {"t"}, "z");
  model.output("y").output("z");
  EXPECT_EQ(checked(import(model)).tasks.size(), 3U);
}

TEST(Partition, CopiesWhatOutputsCannotShare) {
  OnnxModel model = small_conv_model();
  model.node("f", "Flatten", {"y"}, "flat")
      .output("flat")
      .node("i", "Identity", {"x"}, "same")
      .output("same");
  const Graph graph = import(model);
  const Partition parts = checked(graph);
  EXPECT_EQ(parts.uses.size(), 3U);
  EXPECT_EQ(parts.outputs, graph.outputs);
}

TEST(Partition, BindsAnOutputThatIsAView) {
  OnnxModel model = small_conv_model();
  model.node("f", "Flatten", {"y"}, "flat");
  model.proto.mutable_graph()->mutable_output(0)->set_name("flat");
  const Graph graph = import(model);
  const Partition parts = checked(graph);
  EXPECT_EQ(parts.uses.size(), 1U);
  EXPECT_EQ(graph.tensors[parts.outputs[0]].name, "y");
}

TEST(Partition, AnOperandReadTwiceIsOneArgument) {
  OnnxModel model;
  model.input("x", {1, 4, 3, 3}).initializer("w", {4, 4, 1, 1}).node("c", "Conv", {"x", "w"}, "t");
  model.node("a", "Add", {"t", "x"}, "u").node("b", "Add", {"u", "u"}, "y").output("y");
  const Partition parts = checked(import(model));
  ASSERT_EQ(parts.uses.size(), 1U);
  EXPECT_EQ(parts.uses[0].arguments.size(), 3U);
}

TEST(Partition, WhatReadsTensorsTwiceComputesTheSame) {
  OnnxModel model;
  model.input("x", {1, 4, 3, 3}).initializer("w", {4, 4, 1, 1}).node("c", "Conv", {"x", "w"}, "t");
  model.node("s", "Sigmoid", {"t"}, "u").node("a", "Mul", {"t", "u"}, "v").node("b", "Mul", {"v", "v"}, "q");
  model.node("d", "Sub", {"q", "v"}, "y").output("y");
  const Partition parts = checked(import(model));
  EXPECT_EQ(parts.uses.size(), 1U);
}

TEST(Partition, AttentionIsOneTask) {
  const Partition parts = checked(import(small_bert_model()), {{{1, 6}, {3, 10, 1, 2, 0, 0}}});
  const auto attends = [](const TaskUse& use) {
    return use.operators.size() > 3 && use.operators[3] == "Softmax";
  };
  const auto use = std::ranges::find_if(parts.uses, attends);
  ASSERT_NE(use, parts.uses.end());
  EXPECT_EQ(use->operators, (std::vector<std::string>{"MatMul", "Div", "Add", "Softmax", "MatMul"}));
}

// As in ONNX Runtime: what every key is hidden from has no largest score.
TEST(Partition, ARowThatIsHiddenWholeIsNoNumber) {
  const float hidden = -std::numeric_limits<float>::infinity();
  OnnxModel model;
  model.input("q", {3, 4}).input("k", {4, 3}).input("v", {3, 2});
  model.initializer("mask", {3, 3}, {hidden, hidden, hidden, 0, hidden, hidden, 0, 0, hidden});
  model.node("qk", "MatMul", {"q", "k"}, "s").node("hide", "Add", {"s", "mask"}, "t");
  model.node("softmax", "Softmax", {"t"}, "p").node("pv", "MatMul", {"p", "v"}, "y").output("y");
  const Graph graph = import(model);
  const Partition parts = partition(graph).value();
  EXPECT_EQ(parts.uses.size(), 1U);
  const std::vector<Values> inputs = random_inputs(graph, 3);
  const std::vector<double> result = run_partition(graph, parts, inputs)[0].data;
  const std::vector<double> expected = evaluate_graph(graph, inputs).value()[0].data;
  ASSERT_EQ(result.size(), 6U);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(std::isnan(result[i]) && std::isnan(expected[i])) << i;
  for (size_t i = 2; i < 6; ++i) EXPECT_NEAR(result[i], expected[i], 1e-6) << i;
}

TEST(PlanActivations, SharesTheArena) {
  const Graph graph = import(residual_model());
  const ActivationPlan plan = plan_activations(graph, partition(graph).value());
  // one [480 B], two, then p [2x2: 64 B], q, g: never more than two large ones at once.
  EXPECT_EQ(plan.bytes, 1024);
  for (TensorId id : graph.inputs) EXPECT_EQ(plan.offsets[id], -1);
  for (TensorId id : graph.outputs) EXPECT_EQ(plan.offsets[id], -1);
}

}  // namespace
}  // namespace lathe
