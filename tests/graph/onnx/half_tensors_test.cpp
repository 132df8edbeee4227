#include "graph/onnx/half_tensors.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr int kHalf = onnx::TensorProto_DataType_FLOAT16;

// An initializer of f16: 1.5 and -2.
OnnxModel& halves(OnnxModel& model, const std::string& name) {
  onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(kHalf);
  tensor.add_dims(2);
  tensor.add_int32_data(0x3e00);
  tensor.add_int32_data(0xc000);
  return model;
}

std::string graph_of(const OnnxModel& model) {
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  return graph ? to_string(*graph) : graph.error().message;
}

TEST(HalfTensors, AreComputedInF32AndGivenInTheirOwnType) {
  OnnxModel model;
  halves(model.input("x", {2}, kHalf), "w");
  model.node("n", "Mul", {"x", "w"}, "t").node("m", "Add", {"t", "t"}, "y").output("y");
  EXPECT_EQ(graph_of(model), R"(graph test
  input x f16[2]
  constant w f32[2]
  x#f32 f32[2] = Cast(f32) of x
  t f32[2] = Mul() of x#f32, w
  y#f32 f32[2] = Add() of t, t
  y f16[2] = Cast(f16) of y#f32
  output y
)");
  EXPECT_EQ(run_network(model, {Values{{2}, {3, 4}, DType::f16}}).data, (std::vector<double>{9, -16}));
}

// 2049 lies between two numbers of f16, and the sum of two of it is one.
TEST(HalfTensors, AreRoundedWhereTheModelCastsOrGivesThemAndNotBetween) {
  OnnxModel model;
  model.input("x", {1}).node("c", "Cast", {"x"}, "h").attribute("to", kHalf);
  model.node("n", "Add", {"h", "h"}, "t").node("d", "Cast", {"t"}, "y");
  model.attribute("to", onnx::TensorProto_DataType_FLOAT).output("y").output("h");
  EXPECT_EQ(run_network(model, {{{1}, {2049}}}).data, std::vector<double>{4096});
  EXPECT_EQ(run_network(model, {{{1}, {2049}}}, 1).data, std::vector<double>{2048});
  OnnxModel between;
  between.input("x", {1}, kHalf).initializer("one", {1}, {1});
  between.node("c", "Cast", {"one"}, "h").attribute("to", kHalf);
  between.node("n", "Add", {"x", "h"}, "t").node("m", "Add", {"t", "h"}, "y").output("y").output("t");
  const Values x{{1}, {2048}, DType::f16};
  EXPECT_EQ(run_network(between, {x}).data, std::vector<double>{2050});
  EXPECT_EQ(run_network(between, {x}, 1).data, std::vector<double>{2048});
}

TEST(HalfTensors, InputsAndConstantsAreGivenAsTheyAre) {
  OnnxModel model;
  halves(model.input("x", {2}, kHalf), "w").output("w").output("x");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  for (const TensorId id : graph->outputs) EXPECT_EQ(to_string(graph->tensor(id).type), "f16[2]");
}

TEST(HalfTensors, WhatHasATypeOfItsOwnKeepsIt) {
  OnnxModel model;
  halves(model.input("x", {2}, kHalf), "w").input("f", {2});
  model.node("g", "Greater", {"x", "w"}, "g").output("g");
  model.node("c", "CastLike", {"f", "x"}, "h").output("h");
  model.node("d", "CastLike", {"x", "f"}, "k").output("k");
  model.node("w", "Where", {"g", "x", "w"}, "s").output("s");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  std::string types;
  for (const TensorId id : graph->outputs)
    types += graph->tensor(id).name + " " + to_string(graph->tensor(id).type) + ", ";
  EXPECT_EQ(types, "g bool[2], h f16[2], k f32[2], s f16[2], ");
}

TEST(HalfTensors, StatisticsOfANormalizationAreF32) {
  OnnxModel model;
  halves(model.input("x", {3, 2}, kHalf), "w");
  model.node("n", "LayerNormalization", {"x", "w"}, "y").gives("mean").output("y").output("mean");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(to_string(graph->tensor(graph->outputs[0]).type), "f16[3,2]");
  EXPECT_EQ(to_string(graph->tensor(graph->outputs[1]).type), "f32[3,1]");
}

TEST(HalfTensors, FollowFromConstantsAlone) {
  OnnxModel model;
  halves(model.input("x", {2}, kHalf), "w");
  model.node("a", "Add", {"w", "w"}, "t").node("n", "Mul", {"x", "t"}, "y").output("y").output("t");
  EXPECT_EQ(run_network(model, {Values{{2}, {3, 4}, DType::f16}}).data, (std::vector<double>{9, -16}));
  EXPECT_EQ(run_network(model, {Values{{2}, {3, 4}, DType::f16}}, 1).data, (std::vector<double>{3, -4}));
}

}  // namespace
}  // namespace lathe
