// Normalisations alone, with the numbers that they leave; with the other passes: simplify_test.cpp.
#include <gtest/gtest.h>

#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

TensorId add_reals(GraphBuilder& builder, const char* name, const Shape& shape,
                   const std::vector<double>& values) {
  return *builder.constant(name, {DType::f32, shape}, to_bytes(DType::f32, values));
}

SlidingWindow window_of_one_axis(int64_t kernel) { return {{kernel}, {1}, {1}, {0}, {0}}; }

// A normalisation of two channels by 1/2 * (x - 3) + 10 and 2 * (x - 4) + 20.
TensorId add_norm_of_two(GraphBuilder& builder, TensorId x, const char* name) {
  const std::string prefix = name;
  const auto constant = [&](const char* what, const std::vector<double>& values) {
    return add_reals(builder, (prefix + "." + what).c_str(), {2}, values);
  };
  const std::vector<TensorId> operands{x, constant("scale", {1, 6}), constant("shift", {10, 20}),
                                       constant("mean", {3, 4}), constant("variance", {3, 8})};
  return *builder.node(name, BatchNormOp{1}, operands, prefix + ".y");
}

// The constants that the first node reads behind its data.
std::vector<std::vector<double>> weights_of(const Graph& graph) {
  std::vector<std::vector<double>> weights;
  for (size_t i = 1; i < graph.nodes[0].inputs.size(); ++i)
    weights.push_back(values_of(graph.tensors[graph.nodes[0].inputs[i]]));
  return weights;
}

Graph folded(GraphBuilder& builder, TensorId output) {
  EXPECT_TRUE(builder.output(output));
  const Graph graph = builder.build();
  Graph result = fold_batch_norms(graph);
  EXPECT_TRUE(verify(result));
  EXPECT_EQ(graph.nodes.back().output, result.nodes.back().output);
  const std::vector<Values> inputs = random_inputs(graph, 3);
  EXPECT_LE(
      relative_difference(evaluate_graph(result, inputs).value(), evaluate_graph(graph, inputs).value()),
      1e-6);
  return result;
}

TEST(FoldBatchNorm, ScalesEachMapsWeightsAndMakesABias) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 1, 4}});
  const TensorId w = add_reals(builder, "w", {2, 1, 2}, {1, 2, 3, 4});
  const TensorId t = *builder.node("c", ConvOp{window_of_one_axis(2), 1}, {x, w}, "t");
  const Graph result = folded(builder, add_norm_of_two(builder, t, "n"));
  ASSERT_EQ(result.nodes.size(), 1U);
  EXPECT_EQ(weights_of(result), (std::vector<std::vector<double>>{{0.5, 1, 6, 8}, {8.5, 12}}));
  EXPECT_EQ(result.tensors[result.nodes[0].inputs[1]].name, "w.folded");
  EXPECT_EQ(result.tensors[result.nodes[0].inputs[2]].name, "n.shift.folded");
  EXPECT_EQ(result.nodes[0].name, "c");
}

TEST(FoldBatchNorm, ABiasIsShiftedAndScaled) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 1, 4}});
  const TensorId w = add_reals(builder, "w", {2, 1, 1}, {1, 1});
  const TensorId b = add_reals(builder, "b", {2}, {5, -6});
  const TensorId t = *builder.node("c", ConvOp{window_of_one_axis(1), 1}, {x, w, b}, "t");
  const Graph result = folded(builder, add_norm_of_two(builder, t, "n"));
  EXPECT_EQ(weights_of(result), (std::vector<std::vector<double>>{{0.5, 2}, {11, 0}}));
}

// The maps of a transposed convolution are those of a group, in the weight's second dimension.
TEST(FoldBatchNorm, TransposedConvolutionsHaveTheirMapsSecond) {
  GraphBuilder plain("g");
  const TensorId x = *plain.input("x", {DType::f32, {1, 2, 3}});
  const TensorId w = add_reals(plain, "w", {2, 2, 2}, {1, 1, 1, 1, 2, 2, 2, 2});
  const TensorId t = *plain.node("c", ConvTransposeOp{window_of_one_axis(2), {0}, 1}, {x, w}, "t");
  EXPECT_EQ(weights_of(folded(plain, add_norm_of_two(plain, t, "n")))[0],
            (std::vector<double>{0.5, 0.5, 2, 2, 1, 1, 4, 4}));

  GraphBuilder grouped("g");
  const TensorId y = *grouped.input("x", {DType::f32, {1, 4, 3}});
  const TensorId v = add_reals(grouped, "w", {4, 1, 2}, {1, 1, 2, 2, 3, 3, 4, 4});
  const TensorId u = *grouped.node("c", ConvTransposeOp{window_of_one_axis(2), {0}, 2}, {y, v}, "t");
  EXPECT_EQ(weights_of(folded(grouped, add_norm_of_two(grouped, u, "n")))[0],
            (std::vector<double>{0.5, 0.5, 1, 1, 6, 6, 8, 8}));
}

TEST(FoldBatchNorm, FoldsTwoInARowOneAfterTheOther) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 1, 2}});
  const TensorId w = add_reals(builder, "w", {2, 1, 1}, {1, 1});
  const TensorId t = *builder.node("c", ConvOp{window_of_one_axis(1), 1}, {x, w}, "t");
  const TensorId first = add_norm_of_two(builder, t, "n");
  const Graph result = folded(builder, add_norm_of_two(builder, first, "m"));
  ASSERT_EQ(result.nodes.size(), 1U);
  // 0 becomes 8.5 and 12, and these (8.5 - 3) / 2 + 10 and (12 - 4) * 2 + 20.
  EXPECT_EQ(weights_of(result), (std::vector<std::vector<double>>{{0.25, 4}, {12.75, 36}}));
}

TEST(FoldBatchNorm, AConstantThatTwoReadStaysAsItIs) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 1, 2}});
  const TensorId w = add_reals(builder, "w", {2, 1, 1}, {1, 1});
  for (const char* taken : {"w.folded", "w.folded'"}) add_reals(builder, taken, {1}, {0});
  const TensorId t = *builder.node("c", ConvOp{window_of_one_axis(1), 1}, {x, w}, "t");
  const TensorId u = *builder.node("d", ConvOp{window_of_one_axis(1), 1}, {x, w}, "u");
  const TensorId y = add_norm_of_two(builder, t, "n");
  const Graph result = folded(builder, *builder.node("s", ZipOp{}, {y, u}, "sum"));
  EXPECT_EQ(result.nodes.size(), 3U);
  EXPECT_EQ(values_of(result.tensors[w]), (std::vector<double>{1, 1}));
  EXPECT_EQ(result.nodes[1].inputs[1], w);
  EXPECT_EQ(result.tensors[result.nodes[0].inputs[1]].name, "w.folded''");
}

TEST(FoldBatchNorm, StaysWhereItCannotBeWorkedIn) {
  const auto stays = [](bool constant_weight, bool reads_conv, bool gives_conv) {
    GraphBuilder builder("g");
    const TensorId x = *builder.input("x", {DType::f32, {1, 2, 2}});
    const TensorId w = constant_weight ? add_reals(builder, "w", {2, 2, 1}, {1, 1, 1, 1})
                                       : *builder.input("w", {DType::f32, {2, 2, 1}});
    const TensorId t = *builder.node("c", ConvOp{window_of_one_axis(1), 1}, {x, w}, "t");
    EXPECT_TRUE(!gives_conv || builder.output(t));
    const TensorId y = add_norm_of_two(builder, reads_conv ? t : x, "n");
    EXPECT_TRUE(builder.output(y));
    return fold_batch_norms(builder.build()).nodes.size() == 2;
  };
  EXPECT_FALSE(stays(true, true, false));
  EXPECT_TRUE(stays(false, true, false));
  EXPECT_TRUE(stays(true, true, true));
  EXPECT_TRUE(stays(true, false, false));
}

TEST(FoldBatchNorm, StaysWhereItsOwnNumbersAreComputed) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 1, 2}});
  const TensorId scale = *builder.input("scale", {DType::f32, {2}});
  const TensorId w = add_reals(builder, "w", {2, 1, 1}, {1, 1});
  const TensorId ones = add_reals(builder, "ones", {2}, {1, 1});
  const TensorId t = *builder.node("c", ConvOp{window_of_one_axis(1), 1}, {x, w}, "t");
  const TensorId y = *builder.node("n", BatchNormOp{}, {t, scale, ones, ones, ones}, "y");
  EXPECT_EQ(folded(builder, y).nodes.size(), 2U);
}

}  // namespace
}  // namespace lathe
