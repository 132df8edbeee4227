// Reductions, softmax and layer normalisation: the reference against formulas, and the network against the
// reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/network_runner.h"
#include "graph/onnx_models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

// A model of one node `n` that reads x of this shape and gives y.
OnnxModel model_of(const Shape& shape, const char* type, const std::vector<std::string>& inputs = {"x"}) {
  OnnxModel model;
  model.input("x", shape).node("n", type, inputs, "y").output("y");
  return model;
}

Values signed_values() { return {{2, 3}, {-1, 2, -3, 4, -5, 6}}; }

TEST(Reduce, CombinesEveryRowByItsFunction) {
  const std::vector<std::pair<const char*, std::vector<double>>> cases = {
      {"ReduceMean", {-2.0 / 3, 5.0 / 3}},
      {"ReduceMax", {2, 6}},
      {"ReduceMin", {-3, -5}},
      {"ReduceL1", {6, 15}},
      {"ReduceL2", {std::sqrt(14), std::sqrt(77)}},
      {"ReduceSumSquare", {14, 77}}};
  for (const auto& [type, expected] : cases) {
    SCOPED_TRACE(type);
    const Values kept = run_network(model_of({2, 3}, type).attribute("axes", {-1}), {signed_values()});
    EXPECT_EQ(kept.shape, (Shape{2, 1}));
    EXPECT_THAT(kept.data, Pointwise(DoubleNear(1e-12), expected));
    OnnxModel dropping = model_of({2, 3}, type).attribute("axes", {1}).attribute("keepdims", 0);
    EXPECT_EQ(run_network(dropping, {signed_values()}).shape, (Shape{2}));
  }
}

TEST(Reduce, TakesItsAxesFromAConstantOrAllOfThem) {
  OnnxModel some = model_of({2, 3, 2}, "ReduceSum", {"x", "axes"}).integers("axes", {2, 0});
  EXPECT_EQ(run_network(some, {numbered({2, 3, 2})}).data, (std::vector<double>{18, 26, 34}));
  EXPECT_EQ(run_network(some, {numbered({2, 3, 2})}).shape, (Shape{1, 3, 1}));
  OnnxModel all = model_of({2, 3}, "ReduceSum").attribute("keepdims", 0);
  EXPECT_EQ(run_network(all, {numbered({2, 3})}).data, (std::vector<double>{21}));
  EXPECT_EQ(run_network(all, {numbered({2, 3})}).shape, Shape{});
  OnnxModel empty = model_of({2, 3}, "ReduceSum", {"x", "axes"}).integers("axes", std::vector<int64_t>{});
  EXPECT_EQ(run_network(empty, {numbered({2, 3})}).data, (std::vector<double>{21}));
}

TEST(Reduce, TakesEachElementForItselfWhereNoAxesMeanNone) {
  const std::vector<std::pair<const char*, std::vector<double>>> cases = {
      {"ReduceSum", {-1, 2, -3, 4, -5, 6}}, {"ReduceMean", {-1, 2, -3, 4, -5, 6}},
      {"ReduceMax", {-1, 2, -3, 4, -5, 6}}, {"ReduceL1", {1, 2, 3, 4, 5, 6}},
      {"ReduceL2", {1, 2, 3, 4, 5, 6}},     {"ReduceSumSquare", {1, 4, 9, 16, 25, 36}}};
  for (const auto& [type, expected] : cases) {
    SCOPED_TRACE(type);
    OnnxModel model = model_of({2, 3}, type).attribute("noop_with_empty_axes", 1).operator_set(18);
    EXPECT_EQ(run_network(model, {signed_values()}).data, expected);
  }
}

TEST(Reduce, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(model_of({2, 3}, "ReduceMean").attribute("axes", {2})),
            "node 'n' (ReduceMean): there is no axis 2 among 2 axes");
  EXPECT_EQ(import_error(model_of({2, 3}, "ReduceMean").attribute("axes", {1, -1})),
            "node 'n' (ReduceMean): axis 1 is named twice");
  OnnxModel integers;
  integers.integers("k", {1, 2}).node("n", "ReduceMax", {"k"}, "y").output("y");
  EXPECT_EQ(import_error(integers),
            "node 'n' (ReduceMax): input 0 is of type i64, and Lathe supports f32 here");
}

// Softmax, or its logarithm, of each `length` elements in a row.
std::vector<double> softmax_of(const std::vector<double>& x, size_t length, bool logarithm) {
  std::vector<double> result;
  for (size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < length; ++j) sum += std::exp(x[i / length * length + j] - x[i]);
    result.push_back(logarithm ? -std::log(sum) : 1 / sum);
  }
  return result;
}

TEST(Softmax, IsAlongOneAxisFromOperatorSet13OnAndAlongTheRestBefore) {
  const Values x{{2, 2, 3}, {-7, 3, 0.5, 100, 99, 98, 0, 0, 0, 2, -2, 1}};
  for (const bool logarithm : {false, true}) {
    const char* type = logarithm ? "LogSoftmax" : "Softmax";
    EXPECT_THAT(run_network(model_of(x.shape, type), {x}).data,
                Pointwise(DoubleNear(1e-12), softmax_of(x.data, 3, logarithm)));
    EXPECT_THAT(run_network(model_of(x.shape, type).operator_set(12), {x}).data,
                Pointwise(DoubleNear(1e-12), softmax_of(x.data, 6, logarithm)));
    EXPECT_THAT(run_network(model_of(x.shape, type).operator_set(12).attribute("axis", -1), {x}).data,
                Pointwise(DoubleNear(1e-12), softmax_of(x.data, 3, logarithm)));
  }
  const Values columns{{2, 2}, {1, 5, 3, 2}};
  const double first = 1 / (1 + std::exp(2)), second = 1 / (1 + std::exp(-3));
  EXPECT_THAT(run_network(model_of({2, 2}, "Softmax").attribute("axis", 0), {columns}).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{first, second, 1 - first, 1 - second}));
  EXPECT_EQ(import_error(model_of({2, 2}, "Softmax").attribute("axis", 2)),
            "node 'n' (Softmax): there is no axis 2 among 2 axes");
}

TEST(LayerNorm, CentresAndScalesTheAxesFromItsOwnOn) {
  OnnxModel model = model_of({2, 2, 2}, "LayerNormalization", {"x", "scale", "bias"});
  model.attribute("axis", 1).attribute("epsilon", 0.25).initializer("scale", {2, 2}, {1, 2, 3, 4});
  model.initializer("bias", {2}, {0.5F, -0.5F});
  const Values x{{2, 2, 2}, {1, 2, 3, 6, -4, 0, 4, 8}};
  std::vector<double> expected;
  for (size_t i = 0; i < 8; ++i) {
    const double mean = i < 4 ? 3 : 2, variance = i < 4 ? 3.5 : 20;
    const double scale = static_cast<double>(i % 4 + 1), bias = i % 2 == 0 ? 0.5 : -0.5;
    expected.push_back((x.data[i] - mean) / std::sqrt(variance + 0.25) * scale + bias);
  }
  EXPECT_THAT(run_network(model, {x}).data, Pointwise(DoubleNear(1e-12), expected));
}

TEST(LayerNorm, NeedsNoBias) {
  OnnxModel model = model_of({1, 2}, "LayerNormalization", {"x", "scale"});
  model.attribute("epsilon", 0.0).initializer("scale", {2}, {1, 10});
  EXPECT_EQ(run_network(model, {{{1, 2}, {3, 7}}}).data, (std::vector<double>{-1, 10}));
}

TEST(LayerNorm, NamesWhatItCannotTake) {
  OnnxModel wide = model_of({2, 3}, "LayerNormalization", {"x", "scale"}).initializer("scale", {2});
  EXPECT_EQ(import_error(wide), "node 'n' (LayerNormalization): [2] does not broadcast to [2,3]");
  OnnxModel outputs = model_of({2, 3}, "LayerNormalization", {"x", "scale"}).initializer("scale", {3});
  EXPECT_EQ(import_error(outputs.gives("mean")),
            "node 'n' (LayerNormalization): it has 2 outputs, and Lathe supports 1");
}

}  // namespace
}  // namespace lathe
