#include "graph/simplify.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

Graph import(const OnnxModel& model) { return import_onnx_bytes(model.bytes(), "m.onnx").value(); }

std::vector<std::string> node_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphNode& node : graph.nodes) names.push_back(name_of(node.op));
  return names;
}

// The simplified graph, after checks that it is whole, means the same and does not simplify further.
Graph simplified(const Graph& graph) {
  Graph result = simplify(graph);
  EXPECT_TRUE(verify(result)) << verify(result).error().to_string();
  EXPECT_EQ(to_string(simplify(result)), to_string(result));
  const std::vector<Values> inputs = random_inputs(graph, 11);
  EXPECT_LE(
      relative_difference(evaluate_graph(result, inputs).value(), evaluate_graph(graph, inputs).value()),
      1e-6);
  EXPECT_EQ(result.outputs.size(), graph.outputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    EXPECT_EQ(result.tensors[result.outputs[i]].name, graph.tensors[graph.outputs[i]].name);
  }
  return result;
}

OnnxModel norm_model(bool with_bias) {
  OnnxModel model;
  model.input("x", {2, 2, 5, 5}).initializer("w", {4, 2, 3, 3}).initializer("b", {4});
  model.initializer("scale", {4}).initializer("shift", {4}).initializer("mean", {4});
  model.initializer("var", {4}, {0.5F, 1, 2, 3});
  const std::vector<std::string> inputs{"x", "w", "b"};
  model.node("c", "Conv", with_bias ? inputs : std::vector<std::string>{"x", "w"}, "t");
  model.node("n", "BatchNormalization", {"t", "scale", "shift", "mean", "var"}, "u")
      .attribute("epsilon", 0.01);
  return model;
}

TEST(Simplify, FoldsBatchNormIntoConv) {
  for (bool with_bias : {false, true}) {
    OnnxModel model = norm_model(with_bias);
    model.node("r", "Relu", {"u"}, "y").output("y");
    EXPECT_EQ(node_names(simplified(import(model))), (std::vector<std::string>{"Conv", "Relu"}));
  }
}

TEST(Simplify, FoldsTwoBatchNormsInARow) {
  OnnxModel model = norm_model(true);
  model.node("n2", "BatchNormalization", {"u", "scale", "shift", "mean", "var"}, "y").output("y");
  EXPECT_EQ(node_names(simplified(import(model))), (std::vector<std::string>{"Conv"}));
}

TEST(Simplify, KeepsBatchNormBehindASharedConv) {
  OnnxModel model = norm_model(true);
  model.node("a", "Add", {"t", "u"}, "y").output("y");
  EXPECT_EQ(node_names(simplified(import(model))),
            (std::vector<std::string>{"Conv", "BatchNormalization", "Add"}));
  OnnxModel given = norm_model(true);
  given.output("u").output("t");
  EXPECT_EQ(node_names(simplified(import(given))), (std::vector<std::string>{"Conv", "BatchNormalization"}));
}

TEST(Simplify, FoldsConstants) {
  OnnxModel model;
  model.input("x", {2, 3}).initializer("a", {2, 3}).initializer("b", {3}).integers("shape", {3, 2});
  model.node("s", "Add", {"a", "b"}, "s")
      .node("r", "Relu", {"s"}, "r")
      .node("v", "Reshape", {"r", "shape"}, "v");
  model.node("m", "MatMul", {"x", "v"}, "y").output("y");
  EXPECT_EQ(node_names(simplified(import(model))), (std::vector<std::string>{"MatMul"}));
}

// x times a weight of 40 elements, 0.5 each, that is stored in 16 bits.
OnnxModel half_weight_model(int type, uint16_t bits) {
  OnnxModel model;
  model.input("x", {40}).node("c", "Cast", {"w"}, "wide").attribute("to", onnx::TensorProto_DataType_FLOAT);
  model.node("n", "Mul", {"x", "wide"}, "y").output("y");
  onnx::TensorProto& weight = *model.proto.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(type);
  weight.add_dims(40);
  for (int i = 0; i < 40; ++i) weight.add_int32_data(bits);
  return model;
}

TEST(Simplify, HoldsWeightsOf16BitsInF32) {
  for (const auto& [type, bits] : {std::pair<int, uint16_t>{onnx::TensorProto_DataType_FLOAT16, 0x3800},
                                   {onnx::TensorProto_DataType_BFLOAT16, 0x3f00}}) {
    const Result<Graph> graph = import_onnx_bytes(half_weight_model(type, bits).bytes(), "m.onnx");
    ASSERT_TRUE(graph) << graph.error().to_string();
    EXPECT_EQ(to_string(simplify(*graph)),
              "graph test\n"
              "  input x f32[40]\n"
              "  constant w f32[40]\n"
              "  y f32[40] = Mul() of x, w\n"
              "  output y\n");
    const auto outputs = evaluate_graph(simplify(*graph), std::vector<Values>{numbered({40})});
    ASSERT_TRUE(outputs);
    EXPECT_EQ((*outputs)[0].data[39], 20);
  }
}

TEST(Simplify, KeepsConstantsSmall) {
  constexpr int64_t kMany = 1 << 20;
  OnnxModel model;
  model.input("x", {kMany}).initializer("c", {1, 1}, {3}).integers("shape", {kMany, kMany});
  model.node("e", "Expand", {"c", "shape"}, "e").node("r", "Relu", {"e"}, "r");
  model.node("s", "ReduceMax", {"r"}, "s").attribute("axes", {1}).attribute("keepdims", 0);
  model.node("a", "Add", {"x", "s"}, "y").output("y");
  EXPECT_EQ(node_names(simplify(import(model))),
            (std::vector<std::string>{"Expand", "Relu", "ReduceMax", "Add"}));
}

TEST(Simplify, FoldsNothingThatTakesLong) {
  OnnxModel model;
  model.input("x", {2048, 2048}).integers("shape", {2048, 2048}).node("c", "ConstantOfShape", {"shape"}, "c");
  model.node("product", "MatMul", {"c", "c"}, "d").node("n", "Add", {"x", "d"}, "y").output("y");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(simplify(*graph).nodes.size(), 2u);
  OnnxModel sum;
  sum.input("x", {1}).integers("shape", {600, 600}).node("c", "ConstantOfShape", {"shape"}, "c");
  sum.node("sum", "Einsum", {"c", "c", "c"}, "d").attribute("equation", "ab,bc,cd->");
  sum.node("n", "Add", {"x", "d"}, "y").output("y");
  EXPECT_EQ(import_error(sum), "imported");
}

TEST(Simplify, KeepsANodeThatGivesAConstantOutput) {
  OnnxModel model;
  model.input("x", {3}).initializer("a", {3}).node("s", "Relu", {"a"}, "y").output("y");
  const Graph graph = simplified(import(model));
  EXPECT_EQ(node_names(graph), (std::vector<std::string>{"Relu"}));
  EXPECT_EQ(graph.inputs.size(), 1U);
}

TEST(Simplify, RemovesIdentitiesAndDeadNodes) {
  OnnxModel model;
  model.input("x", {2, 30}).initializer("unused", {5}).initializer("b", {30});
  model.node("i0", "Identity", {"b"}, "b0")
      .node("i1", "Identity", {"x"}, "x1")
      .node("a", "Add", {"x1", "b0"}, "s");
  model.node("dead", "Relu", {"s"}, "d").node("i2", "Identity", {"s"}, "s2").node("r", "Relu", {"s2"}, "t");
  model.node("i3", "Identity", {"t"}, "y").output("y");
  const Graph graph = simplified(import(model));
  EXPECT_EQ(to_string(graph),
            "graph test\n"
            "  input x f32[2,30]\n"
            "  constant b f32[30]\n"
            "  s f32[2,30] = Add() of x, b\n"
            "  y f32[2,30] = Relu() of s\n"
            "  output y\n");
}

TEST(Simplify, KeepsIdentitiesThatOutputsNeed) {
  OnnxModel model;
  model.input("x", {3})
      .node("r", "Relu", {"x"}, "t")
      .node("i", "Identity", {"t"}, "y")
      .node("j", "Identity", {"t"}, "z");
  model.node("k", "Identity", {"x"}, "w")
      .node("l", "Relu", {"t"}, "v")
      .output("y")
      .output("z")
      .output("w")
      .output("v");
  const Graph graph = simplified(import(model));
  EXPECT_EQ(node_names(graph), (std::vector<std::string>{"Relu", "Identity", "Identity", "Relu"}));
}

}  // namespace
}  // namespace lathe
