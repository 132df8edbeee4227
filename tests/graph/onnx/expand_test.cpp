#include "graph/onnx/expand.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

onnx::NodeProto node_of(const char* type, const std::vector<std::string>& inputs) {
  onnx::NodeProto node;
  node.set_name("n");
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output("y");
  return node;
}

// "Add(a, b) -> y", a node after the other; tensors whose names begin with "real" are constants of f32.
std::string expanded(const onnx::NodeProto& node) {
  std::string text;
  const auto is_real_constant = [](const std::string& name) { return name.starts_with("real"); };
  for (const onnx::NodeProto& step : expand_onnx_node(node, is_real_constant)) {
    std::string inputs;
    for (const std::string& input : step.input()) inputs += (inputs.empty() ? "" : ", ") + input;
    if (step.attribute_size() > 0) inputs += std::to_string(static_cast<int>(step.attribute(0).f()));
    text += step.name() + ": " + step.op_type() + "(" + inputs + ") -> " + step.output(0) + "\n";
  }
  return text;
}

TEST(ExpandOnnxNode, AddsOperandsOneAfterTheOther) {
  EXPECT_EQ(expanded(node_of("Sum", {"a", "b", "c", "d"})),
            "n#1: Sum(a, b) -> y#1\n"
            "n#2: Sum(y#1, c) -> y#2\n"
            "n: Sum(y#2, d) -> y\n");
  EXPECT_EQ(expanded(node_of("Max", {"a", "a", "a"})),
            "n#1: Max(a, a) -> y#1\n"
            "n: Max(y#1, a) -> y\n");
}

TEST(ExpandOnnxNode, OfOneOperandIsACopy) {
  for (const char* type : {"Sum", "Max", "Min", "Mean"})
    EXPECT_EQ(expanded(node_of(type, {"a"})), "n: Identity(a) -> y\n") << type;
}

TEST(ExpandOnnxNode, AMeanDividesByTheNumberOfOperands) {
  EXPECT_EQ(expanded(node_of("Mean", {"a", "b", "c"})),
            "n#1: Add(a, b) -> y#1\n"
            "n#2: Add(y#1, c) -> y#2\n"
            "n#3: Constant(3) -> y#3\n"
            "n: Div(y#2, y#3) -> y\n");
  EXPECT_EQ(expanded(node_of("Mean", {"a", "b"})),
            "n#1: Add(a, b) -> y#1\n"
            "n#2: Constant(2) -> y#2\n"
            "n: Div(y#1, y#2) -> y\n");
}

TEST(ExpandOnnxNode, BoundsThatAreComputedAreWorkOfTheirOwn) {
  EXPECT_EQ(expanded(node_of("Clip", {"x", "low", "high"})),
            "n#1: Max(x, low) -> y#1\n"
            "n: Min(y#1, high) -> y\n");
  EXPECT_EQ(expanded(node_of("Clip", {"x", "low"})), "n: Max(x, low) -> y\n");
  EXPECT_EQ(expanded(node_of("Clip", {"x", "", "high"})), "n: Min(x, high) -> y\n");
  EXPECT_EQ(expanded(node_of("Clip", {"x", "low", ""})), "n: Max(x, low) -> y\n");
  EXPECT_EQ(expanded(node_of("Clip", {"x", "real low", "high"})),
            "n#1: Max(x, real low) -> y#1\n"
            "n: Min(y#1, high) -> y\n");
}

TEST(ExpandOnnxNode, LeavesWhatStandsForItself) {
  EXPECT_EQ(expanded(node_of("Sum", {"a", "b"})), "");
  EXPECT_EQ(expanded(node_of("Add", {"a", "b", "c"})), "");
  EXPECT_EQ(expanded(node_of("Clip", {"x", "real low", "real high"})), "");
  EXPECT_EQ(expanded(node_of("Clip", {"x"})), "");
  EXPECT_EQ(expanded(node_of("Clip", {"x", "", ""})), "");
  // These are for the import to refuse.
  EXPECT_EQ(expanded(node_of("Sum", {})), "");
  EXPECT_EQ(expanded(node_of("Clip", {"x", "low", "high", "more"})), "");
  onnx::NodeProto two = node_of("Mean", {"a", "b"});
  two.add_output("z");
  EXPECT_EQ(expanded(two), "");
  onnx::NodeProto none = node_of("Mean", {"a", "b"});
  none.clear_output();
  EXPECT_EQ(expanded(none), "");
}

TEST(ExpandOnnxNode, StepsOfANodeWithoutANameAreCalledByItsOutput) {
  onnx::NodeProto node = node_of("Min", {"a", "b", "c"});
  node.clear_name();
  node.set_domain("ai.onnx");
  EXPECT_EQ(expanded(node),
            "y#1: Min(a, b) -> y#1\n"
            ": Min(y#1, c) -> y\n");
  for (const onnx::NodeProto& step : expand_onnx_node(node, [](const std::string&) { return false; }))
    EXPECT_EQ(step.domain(), "ai.onnx");
}

TEST(ExpandOnnxNode, GivesWhatTheNodeMeans) {
  OnnxModel mean;
  mean.input("a", {2, 2}).input("b", {2}).input("c", {}).node("n", "Mean", {"a", "b", "c"}, "y").output("y");
  EXPECT_EQ(run_network(mean, {numbered({2, 2}), {{2}, {10, 20}}, {{}, {1}}}).data,
            (std::vector<double>{4, 23.0 / 3, 14.0 / 3, 25.0 / 3}));
  OnnxModel clip;
  clip.input("x", {3}).input("low", {}).initializer("high", {}, {2});
  clip.node("n", "Clip", {"x", "low", "high"}, "y").output("y");
  EXPECT_EQ(run_network(clip, {{{3}, {-5, 0, 5}}, {{}, {-1}}}).data, (std::vector<double>{-1, 0, 2}));
  // Bounds that cross give the upper one.
  EXPECT_EQ(run_network(clip, {{{3}, {-5, 0, 5}}, {{}, {3}}}).data, (std::vector<double>{2, 2, 2}));
}

TEST(ExpandOnnxNode, ClipsIntegersBetweenConstants) {
  OnnxModel model;
  model.input("x", {4}, onnx::TensorProto_DataType_INT64).integers("low", {}, {-1}).integers("high", {}, {2});
  model.node("n", "Clip", {"x", "low", "high"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{4}, {-7, -1, 1, 9}}}).data, (std::vector<double>{-1, -1, 1, 2}));
}

}  // namespace
}  // namespace lathe
