// Normalisations: the reference against formulas, and the network against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

TEST(LayerNorm, CentresAndScalesTheAxesFromItsOwnOn) {
  OnnxModel model = node_model({2, 2, 2}, "LayerNormalization", {"x", "scale", "bias"});
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
  OnnxModel model = node_model({1, 2}, "LayerNormalization", {"x", "scale"});
  model.attribute("epsilon", 0.0).initializer("scale", {2}, {1, 10});
  EXPECT_EQ(run_network(model, {{{1, 2}, {3, 7}}}).data, (std::vector<double>{-1, 10}));
}

TEST(LayerNorm, NamesWhatItCannotTake) {
  OnnxModel wide = node_model({2, 3}, "LayerNormalization", {"x", "scale"}).initializer("scale", {2});
  EXPECT_EQ(import_error(wide), "node 'n' (LayerNormalization): [2] does not broadcast to [2,3]");
}

// Each run of `length` elements without its mean, over its deviation.
std::vector<double> standardised(const std::vector<double>& x, size_t length, double epsilon) {
  std::vector<double> result;
  for (size_t i = 0; i < x.size(); ++i) {
    double mean = 0, square = 0;
    for (size_t j = 0; j < length; ++j) mean += x[i / length * length + j] / static_cast<double>(length);
    for (size_t j = 0; j < length; ++j)
      square += std::pow(x[i / length * length + j] - mean, 2) / static_cast<double>(length);
    result.push_back((x[i] - mean) / std::sqrt(square + epsilon));
  }
  return result;
}

// Of [2, 4, 1, 3]: the channel of an element.
size_t channel_of(size_t element) { return element / 3 % 4; }

Values uneven(const Shape& shape) {
  Values x{shape, {}};
  for (int64_t i = 0; i < elements_of(shape); ++i) x.data.push_back(static_cast<double>(i * i % 17) - 5);
  return x;
}

TEST(InstanceNorm, TakesEachChannelByItself) {
  OnnxModel model = node_model({2, 4, 1, 3}, "InstanceNormalization", {"x", "scale", "bias"});
  model.attribute("epsilon", 0.5)
      .initializer("scale", {4}, {1, 2, 3, 4})
      .initializer("bias", {4}, {0, 1, 0, -1});
  const Values x = uneven({2, 4, 1, 3});
  std::vector<double> expected = standardised(x.data, 3, 0.5);
  constexpr double kBias[] = {0, 1, 0, -1};
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = expected[i] * static_cast<double>(channel_of(i) + 1) + kBias[channel_of(i)];
  EXPECT_THAT(run_network(model, {x}).data, Pointwise(DoubleNear(1e-12), expected));
}

OnnxModel group_model(int64_t operator_set, const Shape& factors, std::vector<float> scale,
                      std::vector<float> bias) {
  OnnxModel model = node_model({2, 4, 1, 3}, "GroupNormalization", {"x", "scale", "bias"});
  model.operator_set(operator_set).attribute("num_groups", 2).attribute("epsilon", 0.5);
  model.initializer("scale", factors, std::move(scale)).initializer("bias", factors, std::move(bias));
  return model;
}

// Scale and bias are a group's in operator set 18, and a channel's from 21 on.
TEST(GroupNorm, TakesChannelsTogether) {
  const Values x = uneven({2, 4, 1, 3});
  const std::vector<double> plain = standardised(x.data, 6, 0.5);
  std::vector<double> by_group, by_channel;
  for (size_t i = 0; i < plain.size(); ++i) {
    by_group.push_back(plain[i] * (channel_of(i) < 2 ? 2 : 5) + (channel_of(i) < 2 ? 1 : -1));
    by_channel.push_back(plain[i] * static_cast<double>(channel_of(i) + 1) + 0.25);
  }
  EXPECT_THAT(run_network(group_model(18, {2}, {2, 5}, {1, -1}), {x}).data,
              Pointwise(DoubleNear(1e-12), by_group));
  EXPECT_THAT(run_network(group_model(21, {4}, {1, 2, 3, 4}, {0.25, 0.25, 0.25, 0.25}), {x}).data,
              Pointwise(DoubleNear(1e-12), by_channel));
}

TEST(GroupNorm, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(group_model(18, {4}, {}, {})),
            "node 'n' (GroupNormalization): input 1 has shape [4], and must be [2], an element a group in "
            "operator set 18");
  EXPECT_EQ(import_error(group_model(21, {2}, {}, {})),
            "node 'n' (GroupNormalization): input 1 has shape [2], and must be [4], an element a channel in "
            "operator set 21");
  OnnxModel three = node_model({2, 4, 3}, "GroupNormalization", {"x", "scale", "bias"}).operator_set(18);
  three.attribute("num_groups", 3).initializer("scale", {3}).initializer("bias", {3});
  EXPECT_EQ(import_error(three), "node 'n' (GroupNormalization): the 4 channels of [2,4,3] are not 3 groups");
}

TEST(MeanVarianceNorm, TakesSamplesAndPlacesTogether) {
  const Values x{{2, 2, 1, 2}, {1, 3, 0, 0, 5, 7, 0, 8}};
  const double first = std::sqrt(5), second = std::sqrt(12);  // about means of 4 and 2
  const std::vector<double> expected = {-3 / first, -1 / first, -2 / second, -2 / second,
                                        1 / first,  3 / first,  -2 / second, 6 / second};
  EXPECT_THAT(run_network(node_model(x.shape, "MeanVarianceNormalization"), {x}).data,
              Pointwise(DoubleNear(1e-8), expected));
  const Values rows{{2, 2}, {1, 3, 4, 4}};
  EXPECT_THAT(
      run_network(node_model(rows.shape, "MeanVarianceNormalization").attribute("axes", {-1}), {rows}).data,
      Pointwise(DoubleNear(1e-8), std::vector<double>{-1, 1, 0, 0}));
}

TEST(MeanVarianceNorm, NeedsAnAxis) {
  OnnxModel none =
      node_model({2, 3}, "MeanVarianceNormalization").attribute("axes", std::initializer_list<int64_t>{});
  EXPECT_EQ(import_error(none), "node 'n' (MeanVarianceNormalization): it names no axes");
}

TEST(LpNorm, IsOneAlongItsAxisOrZero) {
  const Values x{{3, 2}, {3, -4, 0, 0, -1, 0}};
  EXPECT_THAT(run_network(node_model(x.shape, "LpNormalization"), {x}).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{0.6, -0.8, 0, 0, -1, 0}));
  const OnnxModel columns = node_model(x.shape, "LpNormalization").attribute("p", 1).attribute("axis", 0);
  EXPECT_THAT(run_network(columns, {x}).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{0.75, -1, 0, 0, -0.25, 0}));
  EXPECT_EQ(import_error(node_model(x.shape, "LpNormalization").attribute("p", 3)),
            "node 'n' (LpNormalization): attribute 'p' is 3, and Lathe supports 1 and 2");
}

TEST(Lrn, DividesByTheChannelsAround) {
  const Values x{{1, 4, 1, 1}, {1, 2, 3, 4}};
  OnnxModel model = node_model(x.shape, "LRN").attribute("size", 3).attribute("alpha", 3.0);
  model.attribute("beta", 0.5).attribute("bias", 2.0);
  std::vector<double> expected = {1 / std::sqrt(7), 2 / std::sqrt(16), 3 / std::sqrt(31), 4 / std::sqrt(27)};
  EXPECT_THAT(run_network(model, {x}).data, Pointwise(DoubleNear(1e-9), expected));
  // Of an even number one more lies behind.
  OnnxModel even = node_model(x.shape, "LRN").attribute("size", 2).attribute("alpha", 2.0);
  even.attribute("beta", 1.0).attribute("bias", 1.0);
  expected = {1.0 / 6, 2.0 / 14, 3.0 / 26, 4.0 / 17};
  EXPECT_THAT(run_network(even, {x}).data, Pointwise(DoubleNear(1e-9), expected));
  EXPECT_EQ(import_error(node_model(x.shape, "LRN")), "node 'n' (LRN): it lacks the attribute 'size'");
}

}  // namespace
}  // namespace lathe
