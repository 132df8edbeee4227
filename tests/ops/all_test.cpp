#include "ops/all.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "expr/loop_counts.h"
#include "expr/print.h"
#include "ops/conv.h"
#include "ops/elementwise.h"
#include "ops/pool.h"
#include "task/task.h"

namespace lathe {
namespace {

using nlohmann::json;

Operator made(std::string_view op, std::string_view parameters) {
  Result<Operator> result = make_operator(op, json::parse(parameters));
  EXPECT_TRUE(result.has_value()) << op << ": " << (result ? "" : result.error().to_string());
  return result.value_or(Operator{});
}

constexpr const char* kConv2d = R"({"batch": 1, "height": 6, "width": 5, "in_channels": 4, "out_channels": 8,
                                    "kernel": 3, "stride": 2, "padding": 1, "groups": 2, "dilation": 1})";

TEST(Operators, PrintedForms) {
  EXPECT_EQ(to_string(made("matmul", R"({"batch": 1, "m": 4, "n": 5, "k": 6})").dag),
            "C[i:4, j:5] = sum(r:6) A[i, r] * B[r, j]\n");
  EXPECT_EQ(
      to_string(made("conv2d", kConv2d).dag),
      "I.pad[n:1, c:4, y:8, x:7] = select(1 <= y && y < 7 && 1 <= x && x < 6, I[n, c, y - 1, x - 1], 0.0)\n"
      "O[n:1, f:8, y:3, x:3] = sum(c:2, ky:3, kx:3) I.pad[n, c + 2*(f/4), 2*y + ky, 2*x + kx] * "
      "W[f, c, ky, kx]\n");
  EXPECT_EQ(
      to_string(made("conv1d_transpose", R"({"batch": 1, "length": 4, "in_channels": 2, "out_channels": 3,
                                                   "kernel": 4, "stride": 2, "padding": 1})")
                    .dag),
      "I.expand[i:1, j:2, k:7] = select(k%2 == 0, I[i, j, k/2], 0.0)\n"
      "I.expand.pad[i:1, j:2, k:11] = select(2 <= k && k < 9, I.expand[i, j, k - 2], 0.0)\n"
      "O[n:1, f:3, x:8] = sum(c:2, kx:4) I.expand.pad[n, c, x + kx] * W[c, f, -kx + 3]\n");
  EXPECT_EQ(to_string(made("transpose_batch_matmul_softmax",
                           R"({"batch": 1, "sequence": 4, "heads": 2, "head_dim": 3})")
                          .dag),
            "Q.t[b:1, h:2, i:4, d:3] = Q[b, i, h, d]\n"
            "K.t[b:1, h:2, j:4, d:3] = K[b, j, h, d]\n"
            "O.scores[b:1, h:2, i:4, j:4] = sum(d:3) Q.t[b, h, i, d] * K.t[b, h, j, d]\n"
            "O.max[n:1, c:2, y:4] = max(x:4) O.scores[n, c, y, x]\n"
            "O.exp[n:1, c:2, y:4, x:4] = exp(O.scores[n, c, y, x] - O.max[n, c, y])\n"
            "O.sum[n:1, c:2, y:4] = sum(x:4) O.exp[n, c, y, x]\n"
            "O[n:1, c:2, y:4, x:4] = O.exp[n, c, y, x] / O.sum[n, c, y]\n");
  EXPECT_EQ(
      to_string(made("depthwise_conv2d", R"({"batch": 1, "height": 4, "width": 4, "channels": 3, "kernel": 3,
                                                   "stride": 1, "padding": 0, "multiplier": 2})")
                    .dag),
      "O[n:1, f:6, y:2, x:2] = sum(ky:3, kx:3) I[n, f/2, y + ky, x + kx] * W[f/2, f%2, ky, kx]\n");
  EXPECT_EQ(to_string(made("block_circulant_matrix", R"({"rows": 9, "cols": 8, "block": 4})").dag),
            "input A[9, 8]\n"
            "O.mean[i:2, j:8] = sum(k:4) A[4*i + k, 4*(j/4) + (j + k)%4] / 4.0\n"
            "O[i:9, j:8] = select(i < 8, O.mean[i/4, 4*(j/4) + (-i + j)%4], 0.0)\n");
  EXPECT_EQ(
      to_string(made("shift_conv2d",
                     R"({"batch": 1, "height": 5, "width": 5, "channels": 3, "kernel": 3, "dilation": 1})")
                    .dag),
      "input I[1, 5, 5, 3]\n"
      "input s[3] i32\n"
      "I.pad[n:1, y:7, x:7, c:3] = select(1 <= y && y < 6 && 1 <= x && x < 6, I[n, y - 1, x - 1, c], 0.0)\n"
      "O[n:1, h:5, w:5, c:3] = I.pad[n, h + i64(s[c])/3, w + i64(s[c])%3, c]\n");
}

struct LoopCount {
  const char* op;
  const char* parameters;
  int spatial_loops;
  int reduce_loops;
  size_t nodes;
};

// The sums over the mini-graph's nodes of FlexTensor's table 3, and how many nodes these are.
TEST(Operators, LoopsOfFlexTensorsTable) {
  const std::string conv1d = R"({"batch": 1, "length": 8, "in_channels": 2, "out_channels": 2, "kernel": 3,
                                "stride": 2, "padding": 1})";
  const std::string conv2d = R"({"batch": 1, "height": 8, "width": 8, "in_channels": 2, "out_channels": 2,
                                 "kernel": 3, "stride": 2, "padding": 1})";
  const std::string conv3d = R"({"batch": 1, "depth": 8, "height": 8, "width": 8, "in_channels": 2,
                                 "out_channels": 2, "kernel": 3, "stride": 2, "padding": 1})";
  const std::vector<LoopCount> table = {
      {"gemv", R"({"m": 4, "k": 5})", 1, 1, 1},
      {"matmul", R"({"batch": 1, "m": 4, "n": 5, "k": 6})", 2, 1, 1},
      {"bilinear", R"({"batch": 2, "out_features": 3, "in1_features": 4, "in2_features": 5})", 2, 2, 1},
      {"conv1d", conv1d.c_str(), 6, 2, 2},
      {"conv1d_transpose", conv1d.c_str(), 9, 2, 3},
      {"conv2d", conv2d.c_str(), 8, 3, 2},
      {"conv2d_transpose", conv2d.c_str(), 12, 3, 3},
      {"conv3d", conv3d.c_str(), 10, 4, 2},
      {"conv3d_transpose", conv3d.c_str(), 15, 4, 3},
      {"conv2d", kConv2d, 8, 3, 2},
      {"depthwise_conv2d", R"({"batch": 1, "height": 8, "width": 8, "channels": 2, "kernel": 3, "stride": 1,
                               "padding": 1})",
       8, 2, 2},
  };
  for (const LoopCount& row : table) {
    const DagAnalysis analysis = analyse(made(row.op, row.parameters).dag);
    EXPECT_EQ(analysis.spatial_loops, row.spatial_loops) << row.op;
    EXPECT_EQ(analysis.reduce_loops, row.reduce_loops) << row.op;
    EXPECT_EQ(analysis.nodes.size(), row.nodes) << row.op;
  }
}

TEST(Operators, NodesOfTheMiniGraph) {
  const DagAnalysis analysis = analyse(made("conv2d", kConv2d).dag);
  ASSERT_EQ(analysis.nodes.size(), 2u);
  const NodeAnalysis& main = analysis.nodes[1];
  EXPECT_EQ(main.order, (std::vector<std::string>{"n", "f", "y", "x", "c", "ky", "kx"}));
  EXPECT_EQ(main.spatial_trip_counts, (std::vector<int64_t>{1, 8, 3, 3}));
  EXPECT_EQ(main.reduce_trip_counts, (std::vector<int64_t>{2, 3, 3}));
  EXPECT_EQ(main.inputs, 2);
  EXPECT_EQ(main.consumers, 0);
  EXPECT_EQ(analysis.nodes[0].consumers, 1);
}

TEST(Operators, DirectFormOperations) {
  EXPECT_EQ(made("conv2d", kConv2d).flops, 2 * 8 * 3 * 3 * 2 * 3 * 3);
  EXPECT_EQ(made("conv2d_bn_relu", kConv2d).flops, 2 * 8 * 3 * 3 * 2 * 3 * 3);
  EXPECT_EQ(
      made("conv1d_transpose", R"({"batch": 1, "length": 4, "in_channels": 2, "out_channels": 3, "kernel": 4,
                                         "stride": 2, "padding": 1})")
          .flops,
      2 * 2 * 3 * 4 * 4);
  EXPECT_EQ(
      made("bilinear", R"({"batch": 2, "out_features": 3, "in1_features": 4, "in2_features": 5})").flops,
      2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(made("frobenius_norm", R"({"batch": 2, "m": 3, "n": 4})").flops, 2 * 2 * 3 * 4 + 2);
  EXPECT_EQ(
      made("transpose_batch_matmul_softmax", R"({"batch": 1, "sequence": 4, "heads": 2, "head_dim": 3})")
          .flops,
      2 * 4 * 4 * (2 * 3 + 5));
}

TEST(Operators, Constants) {
  EXPECT_EQ(made("matmul", R"({"batch": 1, "m": 4, "n": 5, "k": 6})").constants,
            std::vector<std::string>{"B"});
  EXPECT_TRUE(made("matmul", R"({"batch": 2, "m": 4, "n": 5, "k": 6})").constants.empty());
  EXPECT_EQ(made("gemv", R"({"m": 4, "k": 5})").constants, std::vector<std::string>{"A"});
  EXPECT_EQ(made("conv2d_bn_relu", kConv2d).constants, (std::vector<std::string>{"W", "scale", "shift"}));
}

TEST(Operators, ComposeIntoOneDag) {
  DagBuilder builder;
  const Tensor image = builder.input("I", {1, 3, 8, 8});
  const Tensor sums = conv(builder, "C", image, builder.input("W", {4, 3, 3, 3}), uniform_window(2, 1, 1));
  const Tensor pooled =
      max_pool(builder, "P", map(builder, "R", sums, relu), {3, 3}, uniform_window(2, 2, 1));
  global_average_pool(builder, "G", pooled);
  const Result<Dag> dag = builder.build();
  ASSERT_TRUE(dag.has_value()) << dag.error().to_string();
  EXPECT_EQ(dag->outputs.at(0)->shape, (std::vector<int64_t>{1, 4, 1, 1}));
  EXPECT_EQ(to_string(dag->computes[4]),
            "P[n:1, c:4, y:4, x:4] = max(ky:3, kx:3) R.pad[n, c, 2*y + ky, 2*x + kx]");
}

}  // namespace
}  // namespace lathe
