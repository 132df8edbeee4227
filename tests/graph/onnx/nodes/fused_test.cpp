// Nodes of ONNX Runtime beside the nodes of ONNX that they stand for.
#include "graph/onnx/nodes/fused.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

void expect_same(const OnnxModel& fused, const OnnxModel& plain, const std::vector<Values>& inputs) {
  EXPECT_THAT(run_network(fused, inputs).data, Pointwise(DoubleNear(1e-6), run_network(plain, inputs).data));
}

OnnxModel matrices() {
  OnnxModel model;
  return model.input("a", {2, 3, 4}).input("b", {2, 5, 3}).output("y");
}

TEST(FusedNodes, MatMulTurnsItsFactors) {
  OnnxModel fused = matrices(), plain = matrices();
  fused.runtime_node("n", "FusedMatMul", {"a", "b"}, "y");
  fused.attribute("transA", 1).attribute("transB", 1).attribute("alpha", 0.5);
  plain.node("ta", "Transpose", {"a"}, "at").attribute("perm", {0, 2, 1});
  plain.node("tb", "Transpose", {"b"}, "bt").attribute("perm", {0, 2, 1});
  plain.node("p", "MatMul", {"at", "bt"}, "p")
      .initializer("half", {}, {0.5F})
      .node("m", "Mul", {"p", "half"}, "y");
  expect_same(fused, plain, {numbered({2, 3, 4}), numbered({2, 5, 3})});
}

// As ONNX Runtime's optimiser takes the transposes of attention's heads in: rows, stack, columns.
TEST(FusedNodes, MatMulTakesStacksBehindTheFirstAxis) {
  for (const int64_t turned : {0, 1}) {
    const Shape left = turned == 0 ? Shape{2, 5, 3, 4} : Shape{4, 5, 3, 2}, right{4, 5, 3, 6};
    OnnxModel fused, plain;
    for (OnnxModel* model : {&fused, &plain}) model->input("a", left).input("b", right).output("y");
    fused.runtime_node("n", "FusedMatMul", {"a", "b"}, "y").attribute("transA", turned);
    fused.attribute("transBatchA", 1).attribute("transBatchB", 1);
    plain.node("ta", "Transpose", {"a"}, "at")
        .attribute("perm", {1, 2, turned == 0 ? 0 : 3, turned == 0 ? 3 : 0});
    plain.node("tb", "Transpose", {"b"}, "bt").attribute("perm", {1, 2, 0, 3});
    plain.node("p", "MatMul", {"at", "bt"}, "y");
    expect_same(fused, plain, {numbered(left), numbered(right)});
  }
}

// About 1, so that sums keep their digits.
Values small(const Shape& shape) {
  Values values = numbered(shape);
  for (double& value : values.data) value /= 64;
  return values;
}

OnnxModel image_model() {
  OnnxModel model;
  model.input("x", {1, 2, 5, 5})
      .input("z", {1, 3, 3, 3})
      .initializer("w", {3, 2, 3, 3})
      .initializer("b", {3});
  return model.output("y");
}

TEST(FusedNodes, ConvAddsAndActivates) {
  const std::vector<Values> inputs{small({1, 2, 5, 5}), small({1, 3, 3, 3})};
  OnnxModel fused = image_model(), plain = image_model();
  fused.runtime_node("n", "FusedConv", {"x", "w", "b", "z"}, "y").attribute("activation", "Relu");
  plain.node("c", "Conv", {"x", "w", "b"}, "c")
      .node("a", "Add", {"c", "z"}, "s")
      .node("r", "Relu", {"s"}, "y");
  expect_same(fused, plain, inputs);
  OnnxModel bare = image_model(), leaky = image_model();
  bare.runtime_node("n", "FusedConv", {"x", "w"}, "y").attribute("activation", "LeakyRelu");
  onnx::AttributeProto& parameters = *bare.proto.mutable_graph()->mutable_node(0)->add_attribute();
  parameters.set_name("activation_params");
  parameters.set_type(onnx::AttributeProto_AttributeType_FLOATS);
  parameters.add_floats(0.5F);
  leaky.node("c", "Conv", {"x", "w"}, "c").node("l", "LeakyRelu", {"c"}, "y").attribute("alpha", 0.5);
  expect_same(bare, leaky, inputs);
  OnnxModel other = image_model();
  other.runtime_node("n", "FusedConv", {"x", "w"}, "y").attribute("activation", "Exp");
  EXPECT_EQ(
      import_error(other),
      "node 'n' (FusedConv): attribute 'activation' is 'Exp', and Lathe supports Relu, Sigmoid, Tanh, "
      "LeakyRelu, HardSigmoid, Elu, Selu, Softplus, Softsign, ThresholdedRelu and Clip between two numbers");
}

TEST(FusedNodes, GemmActivates) {
  const auto model = [] {
    OnnxModel result;
    return result.input("a", {3, 4}).initializer("b", {5, 4}).initializer("c", {5}).output("y");
  };
  OnnxModel fused = model(), plain = model();
  fused.runtime_node("n", "FusedGemm", {"a", "b", "c"}, "y").attribute("transB", 1);
  fused.attribute("activation", "LeakyRelu").attribute("activation_alpha", 0.25);
  plain.node("g", "Gemm", {"a", "b", "c"}, "g").attribute("transB", 1);
  plain.node("l", "LeakyRelu", {"g"}, "y").attribute("alpha", 0.25);
  expect_same(fused, plain, {numbered({3, 4})});
}

TEST(FusedNodes, GemmActivatesAsTheNodesDo) {
  for (const char* activation : {"Elu", "Selu", "Softplus", "Softsign", "ThresholdedRelu"}) {
    OnnxModel fused, plain;
    for (OnnxModel* model : {&fused, &plain}) model->input("a", {3, 4}).initializer("b", {4, 5}).output("y");
    fused.runtime_node("n", "FusedGemm", {"a", "b"}, "y").attribute("activation", activation);
    plain.node("g", "Gemm", {"a", "b"}, "g").node("l", activation, {"g"}, "y");
    expect_same(fused, plain, {small({3, 4})});
  }
}

TEST(FusedNodes, KindsOfGelu) {
  const Values x{{5}, {-3, -0.5, 0, 0.5, 3}};
  const auto outputs = [&](const char* type, const std::vector<std::string>& inputs) {
    OnnxModel model;
    model.input("x", {5}).initializer("b", {5}, {0.5F, 0.5F, 0.5F, 0.5F, 0.5F});
    return run_network(model.runtime_node("n", type, inputs, "y").output("y"), {x}).data;
  };
  const auto expected = [&](double added, double (*f)(double)) {
    std::vector<double> values;
    for (const double number : x.data) values.push_back(f(number + added));
    return values;
  };
  const auto gelu = [](double v) { return v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))); };
  const auto by_tanh = [](double v) {
    return v * 0.5 * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
  };
  const auto quick = [](double v) { return v / (1 + std::exp(-1.702 * v)); };
  EXPECT_THAT(outputs("Gelu", {"x"}), Pointwise(DoubleNear(1e-6), expected(0, gelu)));
  EXPECT_THAT(outputs("BiasGelu", {"x", "b"}), Pointwise(DoubleNear(1e-6), expected(0.5, gelu)));
  EXPECT_THAT(outputs("FastGelu", {"x"}), Pointwise(DoubleNear(1e-6), expected(0, by_tanh)));
  EXPECT_THAT(outputs("FastGelu", {"x", "b"}), Pointwise(DoubleNear(1e-6), expected(0.5, by_tanh)));
  EXPECT_THAT(outputs("QuickGelu", {"x"}), Pointwise(DoubleNear(1e-6), expected(0, quick)));
}

}  // namespace
}  // namespace lathe
