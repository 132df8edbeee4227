// Local response normalisation: what normalise_test.cpp does not look at.
#include "graph/operators/lrn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

OnnxModel lrn_model(const Shape& shape, int64_t size) {
  OnnxModel model = node_model(shape, "LRN").attribute("size", size).attribute("alpha", 0.5);
  return std::move(model.attribute("beta", 0.25).attribute("bias", 1.5));
}

// ONNX's formula, place by place: the channels from c - floor((size - 1) / 2) to c + ceil((size - 1) / 2).
std::vector<double> by_formula(const Values& x, int64_t size) {
  const auto channels = static_cast<size_t>(x.shape[1]);
  const size_t plane = x.data.size() / static_cast<size_t>(x.shape[0]) / channels;
  std::vector<double> result;
  for (size_t i = 0; i < x.data.size(); ++i) {
    const auto channel = static_cast<int64_t>(i / plane % channels);
    double squares = 0;
    for (int64_t c = 0; c < x.shape[1]; ++c) {
      if (c - channel < -((size - 1) / 2) || c - channel > size / 2) continue;
      const size_t other = i - static_cast<size_t>(channel) * plane + static_cast<size_t>(c) * plane;
      squares += x.data[other] * x.data[other];
    }
    result.push_back(x.data[i] / std::pow(1.5 + 0.5 / static_cast<double>(size) * squares, 0.25));
  }
  return result;
}

// As wide as it may be over 3 channels: what lies beside them all is not computed.
TEST(LrnOperator, AWindowBeyondAllChannelsIsCut) {
  const Values x = numbered({1, 3, 2});
  EXPECT_THAT(run_network(lrn_model({1, 3, 2}, 60001), {x}).data,
              Pointwise(DoubleNear(1e-6), by_formula(x, 60001)));
}

TEST(LrnOperator, TakesTheChannelsAroundEachPlace) {
  for (const Shape& shape : {Shape{2, 5}, Shape{1, 5, 2}, Shape{2, 3, 2, 2}, Shape{1, 1, 3}}) {
    for (const int64_t size : {1, 2, 3, 4, 9}) {
      SCOPED_TRACE(::testing::Message() << to_string(shape) << " size " << size);
      const Values x = numbered(shape);
      EXPECT_THAT(run_network(lrn_model(shape, size), {x}).data,
                  Pointwise(DoubleNear(1e-6), by_formula(x, size)));
    }
  }
}

TEST(LrnOperator, HasOnnxDefaults) {
  const Values x{{1, 1}, {100}};
  EXPECT_NEAR(run_network(node_model({1, 1}, "LRN").attribute("size", 1), {x}).data[0],
              100 / std::pow(1 + 1e-4 * 1e4, 0.75), 1e-5);
}

TEST(LrnOperator, PrintsItsAttributes) {
  EXPECT_EQ(to_string(GraphOp(LrnOp{3, 0.5, 0.25, 2})), "LRN(size 3, alpha 0.5, beta 0.25, bias 2)");
}

TEST(LrnOperator, NamesWhatItCannotTake) {
  const auto refusal = [](int64_t size, const TensorType& type) {
    const Result<TensorType> result = infer(LrnOp{size, 1, 1, 1}, std::vector{type});
    return result ? to_string(*result) : result.error().message;
  };
  EXPECT_EQ(refusal(1 << 20, {DType::f32, {1, 2}}), "f32[1,2]");
  EXPECT_EQ(refusal(0, {DType::f32, {1, 2}}), "attribute 'size' is 0, and must be within 1 .. 1048576");
  EXPECT_EQ(refusal(-3, {DType::f32, {1, 2}}), "attribute 'size' is -3, and must be within 1 .. 1048576");
  EXPECT_EQ(refusal((1 << 20) + 1, {DType::f32, {1, 2}}),
            "attribute 'size' is 1048577, and must be within 1 .. 1048576");
  EXPECT_EQ(refusal(1, {DType::f32, {2}}), "[2] is not [N, C, ..]");
  EXPECT_EQ(refusal(1, {DType::i32, {1, 2}}), "input 0 is of type i32, and Lathe supports f32 and f64 here");
}

}  // namespace
}  // namespace lathe
