// Batch normalisation that no convolution takes in: the reference against the formula, the network against
// the reference. Folded: fold_batch_norm_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

// Channel 0 becomes (x - 1) / 2 * 3 + 10, channel 1 (x - 2) / 4 + 20.
OnnxModel norm_of_two_channels(const Shape& shape) {
  OnnxModel model = node_model(shape, "BatchNormalization", {"x", "scale", "bias", "mean", "variance"});
  model.attribute("epsilon", 1.0).initializer("scale", {2}, {3, 1}).initializer("bias", {2}, {10, 20});
  return std::move(model.initializer("mean", {2}, {1, 2}).initializer("variance", {2}, {3, 15}));
}

double normed(double x, size_t channel) { return channel == 0 ? (x - 1) / 2 * 3 + 10 : (x - 2) / 4 + 20; }

TEST(BatchNorm, ScalesAndShiftsEachChannelOfAnyRank) {
  for (const Shape& shape : {Shape{3, 2}, Shape{2, 2, 3}, Shape{1, 2, 2, 3}, Shape{2, 2, 1, 1, 2}}) {
    SCOPED_TRACE(to_string(shape));
    const Values x = numbered(shape);
    const auto plane = static_cast<size_t>(elements_of(shape) / shape[0] / 2);
    std::vector<double> expected;
    for (size_t i = 0; i < x.data.size(); ++i) expected.push_back(normed(x.data[i], i / plane % 2));
    const Values y = run_network(norm_of_two_channels(shape), {x});
    EXPECT_EQ(y.shape, shape);
    EXPECT_THAT(y.data, Pointwise(DoubleNear(1e-12), expected));
  }
}

TEST(BatchNorm, AddsItsEpsilonToTheVariance) {
  OnnxModel model = norm_of_two_channels({1, 2});
  model.proto.mutable_graph()->mutable_node(0)->clear_attribute();
  const double y = run_network(model, {{{1, 2}, {2, 2}}}).data[0];
  EXPECT_NEAR(y, 10 + 3 / std::sqrt(3 + 1e-5), 1e-9);  // 1e-5 where nothing is said
  EXPECT_GT(std::abs(y - (10 + 3 / std::sqrt(3.0))), 1e-7);
}

TEST(BatchNorm, ItsNumbersMayBeComputed) {
  OnnxModel model = node_model({1, 2, 2}, "BatchNormalization", {"x", "scale", "bias", "mean", "variance"});
  for (const char* name : {"scale", "bias", "mean", "variance"}) model.input(name, {2});
  const std::vector<Values> inputs{
      {{1, 2, 2}, {1, 2, 3, 4}}, {{2}, {1, -2}}, {{2}, {5, 6}}, {{2}, {1, 3}}, {{2}, {1, 4}}};
  EXPECT_THAT(run_network(model.attribute("epsilon", 0.0), inputs).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{5, 6, 6, 5}));
}

TEST(BatchNorm, PrintsItsEpsilon) {
  EXPECT_EQ(to_string(GraphOp(BatchNormOp{0.5})), "BatchNormalization(epsilon 0.5)");
}

TEST(BatchNorm, NamesOperandsThatDoNotFit) {
  const auto refusal = [](std::vector<TensorType> types) { return infer(BatchNormOp{}, types).error(); };
  const TensorType two{DType::f32, {2}}, data{DType::f32, {1, 2, 3}};
  EXPECT_EQ(refusal({two, two, two, two, two}).message, "input 0 has shape [2], and must be [N, C, ...]");
  EXPECT_EQ(refusal({data, two, {DType::f32, {3}}, two, two}).message,
            "input 2 has shape [3], and must be [2]");
  EXPECT_EQ(refusal({data, two, two, two, {DType::f32, {1, 2}}}).message,
            "input 4 has shape [1,2], and must be [2]");
  EXPECT_EQ(refusal({data, two, two, {DType::f64, {2}}, two}).to_string(),
            "input 3 is of type f64, and Lathe supports f32 here");
  EXPECT_EQ(refusal({{DType::i32, {1, 2}}, two, two, two, two}).kind, ErrorKind::unsupported);
}

TEST(BatchNorm, OldFormsAreForInference) {
  EXPECT_EQ(import_error(norm_of_two_channels({1, 2}).operator_set(7).attribute("spatial", 0)),
            "node 'n' (BatchNormalization): attribute 'spatial' is 0, and Lathe supports 1");
  EXPECT_EQ(import_error(norm_of_two_channels({1, 2}).operator_set(6)),
            "node 'n' (BatchNormalization): it is in training mode, and Lathe supports inference");
  // What is of training only does not matter.
  const std::vector<Values> x{{{1, 2}, {3, 6}}};
  EXPECT_EQ(run_network(norm_of_two_channels({1, 2}).attribute("momentum", 0.1), x).data,
            (std::vector<double>{13, 21}));
  EXPECT_EQ(run_network(norm_of_two_channels({1, 2}).operator_set(6).attribute("is_test", 1), x).data,
            (std::vector<double>{13, 21}));
}

TEST(BatchNorm, TakesFiveOperands) {
  OnnxModel model = norm_of_two_channels({1, 2});
  model.proto.mutable_graph()->mutable_node(0)->mutable_input()->RemoveLast();
  EXPECT_EQ(import_error(model), "node 'n' (BatchNormalization): it has 4 inputs, and takes 5");
}

}  // namespace
}  // namespace lathe
