// Nodes of ONNX Runtime beside the nodes of ONNX that they stand for.
#include "graph/onnx/nodes/skip_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

constexpr double kEpsilon = 1e-3;

void expect_same(const OnnxModel& fused, const OnnxModel& plain, const std::vector<Values>& inputs) {
  for (int output = 0; output < plain.proto.graph().output_size(); ++output) {
    const auto which = static_cast<size_t>(output);
    EXPECT_THAT(run_network(fused, inputs, which).data,
                Pointwise(DoubleNear(1e-5), run_network(plain, inputs, which).data))
        << output;
  }
}

OnnxModel rows_model() {
  OnnxModel model;
  model.input("x", {2, 3, 8}).input("skip", {2, 3, 8}).initializer("g", {8}).initializer("b", {8});
  return model.initializer("bias", {8}).output("y").output("sum");
}

TEST(SkipNorm, NormalisesTheSumAndGivesIt) {
  for (const bool has_bias : {false, true}) {
    OnnxModel fused = rows_model(), plain = rows_model();
    std::vector<std::string> inputs{"x", "skip", "g", "b"};
    if (has_bias) inputs.emplace_back("bias");
    fused.runtime_node("n", "SkipLayerNormalization", inputs, "y").gives("").gives("").gives("sum");
    fused.attribute("epsilon", kEpsilon);
    plain.node("a", "Add", {"x", "skip"}, has_bias ? "first" : "sum");
    if (has_bias) plain.node("b", "Add", {"first", "bias"}, "sum");
    plain.node("n", "LayerNormalization", {"sum", "g", "b"}, "y").attribute("epsilon", kEpsilon);
    expect_same(fused, plain, {numbered({2, 3, 8}), numbered({2, 3, 8})});
  }
}

TEST(SkipNorm, GivesMeanAndDeviation) {
  OnnxModel model;
  model.input("x", {1, 1, 4}).input("skip", {1, 1, 4}).initializer("g", {4}, {1, 1, 1, 1});
  model.runtime_node("n", "SkipLayerNormalization", {"x", "skip", "g"}, "y").gives("mean").gives("inverse");
  model.output("mean").output("inverse");
  const std::vector<Values> inputs{{{1, 1, 4}, {0, 1, 2, 3}}, {{1, 1, 4}, {1, 2, 3, 4}}};
  EXPECT_NEAR(run_network(model, inputs, 0).data.at(0), 4, 1e-6);
  EXPECT_NEAR(run_network(model, inputs, 1).data.at(0), 0.4472136, 1e-6);
}

TEST(SkipNorm, ByTheRootOfTheMeanSquareAlone) {
  OnnxModel fused = rows_model(), plain = rows_model();
  fused.runtime_node("n", "SkipSimplifiedLayerNormalization", {"x", "skip", "g", "bias"}, "y");
  fused.gives("").gives("").gives("sum").attribute("epsilon", kEpsilon);
  plain.node("a", "Add", {"x", "skip"}, "first").node("b", "Add", {"first", "bias"}, "sum");
  plain.node("n", "SimplifiedLayerNormalization", {"sum", "g"}, "y").attribute("epsilon", kEpsilon);
  expect_same(fused, plain, {numbered({2, 3, 8}), numbered({2, 3, 8})});
}

OnnxModel words_model() {
  OnnxModel model;
  constexpr int kI32 = onnx::TensorProto_DataType_INT32;
  model.input("ids", {2, 3}, kI32).input("kinds", {2, 3}, kI32).input("mask", {2, 3}, kI32);
  model.initializer("words", {10, 8}).initializer("places", {5, 8}).initializer("segments", {2, 8});
  return model.initializer("g", {8}).initializer("b", {8});
}

TEST(SkipNorm, EmbedsWordsPlacesAndSegments) {
  OnnxModel fused = words_model(), plain = words_model();
  fused.runtime_node("n", "EmbedLayerNormalization",
                     {"ids", "kinds", "words", "places", "segments", "g", "b", "mask"}, "y");
  fused.gives("count").gives("sum").attribute("epsilon", kEpsilon).output("y").output("sum").output("count");
  plain.node("w", "Gather", {"words", "ids"}, "w").node("s", "Gather", {"segments", "kinds"}, "s");
  plain.integers("from", {0}).integers("to", {3}).node("p", "Slice", {"places", "from", "to"}, "p");
  plain.node("a", "Add", {"w", "p"}, "wp").node("c", "Add", {"wp", "s"}, "sum");
  plain.node("n", "LayerNormalization", {"sum", "g", "b"}, "y").attribute("epsilon", kEpsilon);
  plain.output("y").output("sum");
  const std::vector<Values> inputs{{{2, 3}, {1, 9, 4, 0, 0, 7}, DType::i32},
                                   {{2, 3}, {0, 1, 0, 1, 1, 0}, DType::i32},
                                   {{2, 3}, {1, 1, 0, 1, 0, 0}, DType::i32}};
  expect_same(fused, plain, inputs);
  EXPECT_EQ(run_network(fused, inputs, 2).data, (std::vector<double>{2, 1}));
}

}  // namespace
}  // namespace lathe
