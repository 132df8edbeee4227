// Convolutions: the reference against sums that start from the data's elements, where its own start from the
// result's, and the network against the reference.
#include "graph/operators/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

struct ConvCase {
  ConvOp op;
  Values data;
  Values weight;
};

Values drawn(Rng& rng, const Shape& shape) {
  Values values{shape, {}};
  for (int64_t i = 0; i < elements_of(shape); ++i)
    values.data.push_back(static_cast<double>(rng.below(19)) - 9);
  return values;
}

int64_t below(Rng& rng, int64_t limit) {
  return static_cast<int64_t>(rng.below(static_cast<uint64_t>(limit)));
}

// A convolution whose kernel fits, of `axes` axes.
ConvCase drawn_case(Rng& rng, size_t axes) {
  ConvCase result;
  result.op.groups = 1 + below(rng, 3);
  const int64_t channels = 1 + below(rng, 2), maps = result.op.groups * (1 + below(rng, 2));
  Shape data{1 + below(rng, 2), channels * result.op.groups}, weight{maps, channels};
  SlidingWindow& window = result.op.window;
  for (size_t d = 0; d < axes; ++d) {
    window.kernel.push_back(1 + below(rng, 3));
    window.strides.push_back(1 + below(rng, 3));
    window.dilations.push_back(1 + below(rng, 2));
    window.pads_before.push_back(below(rng, 3));
    window.pads_after.push_back(below(rng, 3));
    data.push_back(reach(window, d) + below(rng, 4));
    weight.push_back(window.kernel.back());
  }
  result.data = drawn(rng, data);
  result.weight = drawn(rng, weight);
  return result;
}

// The place of the result in which a tap multiplies an element, along each axis; nothing where in none.
bool meets(const SlidingWindow& window, const Shape& element, const Shape& tap, Shape& place,
           const Shape& extents) {
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    const int64_t at = element[d + 2] + window.pads_before[d] - tap[d + 2] * window.dilations[d];
    place[d + 2] = at / window.strides[d];
    if (at < 0 || at % window.strides[d] != 0 || place[d + 2] >= extents[d + 2]) return false;
  }
  return true;
}

// Each element of the data goes wherever a tap takes it.
std::vector<double> scattered(const ConvCase& c, const Shape& shape) {
  std::vector<double> sums(static_cast<size_t>(elements_of(shape)), 0);
  const int64_t maps = c.weight.shape[0] / c.op.groups, channels = c.weight.shape[1];
  Shape element(c.data.shape.size(), 0);
  do {
    Shape tap(element.size(), 0);
    do {
      if (tap[0] / maps != element[1] / channels || tap[1] != element[1] % channels) continue;
      Shape place{element[0], tap[0]};
      place.resize(element.size());
      if (!meets(c.op.window, element, tap, place, shape)) continue;
      const auto at = static_cast<size_t>(broadcast_offset(shape, place));
      sums[at] += element_at(c.data, element) * element_at(c.weight, tap);
    } while (next_index(tap, c.weight.shape));
  } while (next_index(element, c.data.shape));
  return sums;
}

TEST(Conv, GivesWhatScatteringGives) {
  Rng rng(21);
  for (int round = 0; round < 150; ++round) {
    const ConvCase c = drawn_case(rng, 1 + static_cast<size_t>(round) % 3);
    const std::vector<TensorType> types{{DType::f32, c.data.shape}, {DType::f32, c.weight.shape}};
    SCOPED_TRACE(to_string(GraphOp(c.op)) + " of " + to_string(c.data.shape));
    const Result<TensorType> type = infer(c.op, types);
    ASSERT_TRUE(type) << type.error().to_string();
    const Values y = evaluate(c.op, std::vector<Values>{c.data, c.weight});
    EXPECT_EQ(y.shape, type->shape);
    EXPECT_EQ(y.data, scattered(c, type->shape));
  }
}

// Its own number beside the data is data that are larger by the pads.
TEST(Conv, PadsWithTheNumberBesideTheData) {
  const ConvOp plain{{{2}, {1}, {1}, {0}, {0}}, 1};
  ConvOp op{{{2}, {1}, {1}, {2}, {1}}, 1};
  op.beside = 7;
  const Values weight{{1, 1, 2}, {3, 5}, DType::i8};
  const Values data{{1, 1, 2}, {1, 2}, DType::u8}, wider{{1, 1, 5}, {7, 7, 1, 2, 7}, DType::u8};
  EXPECT_EQ(evaluate(op, std::vector<Values>{data, weight}).data,
            evaluate(plain, std::vector<Values>{wider, weight}).data);
}

TEST(Conv, AddsItsBiasToEachMap) {
  OnnxModel model = node_model({2, 1, 2}, "Conv", {"x", "w", "b"});
  model.initializer("w", {2, 1, 1}, {1, -1}).initializer("b", {2}, {100, 200});
  EXPECT_EQ(run_network(model, {numbered({2, 1, 2})}).data,
            (std::vector<double>{101, 102, 199, 198, 103, 104, 197, 196}));
}

TEST(Conv, AKernelMayReachOverAllOfThePaddedData) {
  OnnxModel model = node_model({1, 1, 1}, "Conv", {"x", "w"}).initializer("w", {1, 1, 2}, {3, 5});
  EXPECT_EQ(run_network(model.attribute("pads", {2, 1}).attribute("dilations", {3}), {{{1, 1, 1}, {7}}}).data,
            (std::vector<double>{0}));  // places 0 and 3 of two pads, the element and a pad
  OnnxModel behind = node_model({1, 1, 1}, "Conv", {"x", "w"}).initializer("w", {1, 1, 2}, {3, 5});
  EXPECT_EQ(run_network(behind.attribute("pads", {1, 1}), {{{1, 1, 1}, {7}}}).data,
            (std::vector<double>{35, 21}));
}

TEST(Conv, PrintsItsWindowAndGroups) {
  EXPECT_EQ(to_string(GraphOp(ConvOp{{{3}, {1}, {1}, {0}, {0}}, 1})), "Conv(kernel [3])");
  EXPECT_EQ(to_string(GraphOp(ConvOp{{{3, 1}, {2, 1}, {1, 4}, {1, 0}, {0, 0}}, 8})),
            "Conv(kernel [3,1], strides [2,1], dilations [1,4], pads [1,0,0,0], groups 8)");
  EXPECT_EQ(to_string(GraphOp(ConvOp{{{3}, {1}, {1}, {1}, {0}}, 1, 128})),
            "Conv(kernel [3], pads [1,0], beside 128)");
}

TEST(Conv, NamesShapesThatDoNotFit) {
  const ConvOp plain{{{3}, {1}, {1}, {0}, {0}}, 1};
  const auto refusal = [](const ConvOp& op, const std::vector<Shape>& shapes) {
    std::vector<TensorType> types;
    for (const Shape& shape : shapes) types.push_back({DType::f32, shape});
    const Result<TensorType> type = infer(op, types);
    return type ? to_string(*type) : type.error().message;
  };
  EXPECT_EQ(refusal(plain, {{1, 2, 5}, {4, 2, 3}, {4}}), "f32[1,4,3]");
  EXPECT_EQ(refusal(plain, {{1, 2}, {4, 2}}),
            "input 0 has shape [1,2], and Lathe supports [N, C, one to three spatial axes]");
  EXPECT_EQ(refusal(plain, {{1, 2, 3, 3, 3, 3}, {4, 2, 1, 1, 1, 1}}),
            "input 0 has shape [1,2,3,3,3,3], and Lathe supports [N, C, one to three spatial axes]");
  EXPECT_EQ(refusal(plain, {{1, 2, 5}, {4, 2, 3, 3}}),
            "data [1,2,5] and weight [4,2,3,3] must be [N, C, spatial...] and [M, C / groups, kernel...]");
  EXPECT_EQ(refusal(plain, {{1, 2, 5}, {4, 1, 3}}), "data [1,2,5] and weight [4,1,3] do not fit 1 group(s)");
  EXPECT_EQ(refusal({plain.window, 0}, {{1, 2, 5}, {4, 2, 3}}),
            "data [1,2,5] and weight [4,2,3] do not fit 0 group(s)");
  EXPECT_EQ(refusal({plain.window, -1}, {{1, 2, 5}, {4, 2, 3}}),
            "data [1,2,5] and weight [4,2,3] do not fit -1 group(s)");
  EXPECT_EQ(refusal({plain.window, 2}, {{1, 2, 5}, {3, 1, 3}}),
            "data [1,2,5] and weight [3,1,3] do not fit 2 group(s)");
  EXPECT_EQ(refusal(plain, {{1, 2, 5}, {4, 2, 2}}), "weight [4,2,2] does not have the kernel [3]");
  EXPECT_EQ(refusal(plain, {{1, 2, 5}, {4, 2, 3}, {1}}), "bias has shape [1], and must be [4]");
  EXPECT_EQ(refusal(plain, {{1, 2, 2}, {4, 2, 3}}),
            "the kernel reaches over 3 elements of spatial axis 0, which has 2 with its padding");
}

TEST(Conv, TakesF32Alone) {
  const std::vector<TensorType> types{{DType::f32, {1, 1, 3}}, {DType::f16, {1, 1, 3}}};
  EXPECT_EQ(infer(ConvOp{{{3}, {1}, {1}, {0}, {0}}, 1}, types).error().message,
            "input 1 is of type f16, and Lathe supports f32 here");
}

// The kernel's extents are the weight's; an attribute may repeat them and nothing else.
TEST(Conv, AKernelShapeRepeatsTheWeights) {
  OnnxModel model = node_model({1, 1, 4}, "Conv", {"x", "w"}).initializer("w", {1, 1, 2}, {1, 1});
  EXPECT_EQ(run_network(OnnxModel(model).attribute("kernel_shape", {2}), {numbered({1, 1, 4})}).data,
            (std::vector<double>{3, 5, 7}));
  EXPECT_EQ(import_error(model.attribute("kernel_shape", {3})),
            "node 'n' (Conv): weight [1,1,2] does not have the kernel [3]");
  OnnxModel flat = node_model({1, 1, 4}, "Conv", {"x", "w"}).initializer("w", {1, 1}, {1});
  EXPECT_EQ(import_error(flat), "node 'n' (Conv): it lacks the attribute 'kernel_shape'");
}

// What folding asks before it evaluates one: 8 steps for each term of each element.
TEST(Conv, CountsItsTerms) {
  const ConvOp op{{{3, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 2};
  const std::vector<TensorType> types{{DType::f32, {2, 4, 5, 5}}, {DType::f32, {6, 2, 3, 2}}};
  EXPECT_EQ(steps_of(op, types), 8.0 * (2 * 6 * 3 * 4) * (2 * 3 * 2));
}

}  // namespace
}  // namespace lathe
