#include "space/flextensor/mini_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "rewrite/same_result.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Task convolution(const std::string& op, int groups = 1) {
  return task_of_workload(R"({"name":"c", "op":")" + op + R"(", "batch":1, "height":8, "width":8,
      "in_channels":8, "out_channels":16, "kernel":3, "stride":1, "padding":1, "groups":)" +
                          std::to_string(groups) + "}");
}

std::vector<std::string> names_of_loops(const MiniGraph& graph, const MiniGraphNode& node) {
  std::vector<std::string> names;
  for (const size_t axis : node.innermost) names.push_back(graph.compute(node).axes[axis].var.name());
  return names;
}

TEST(MiniGraph, PaddingMayGoIntoTheConvolutionsLoopsOrBody) {
  const MiniGraph graph = mini_graph_of(convolution("conv2d"));
  ASSERT_EQ(graph.nodes.size(), 2u);
  const MiniGraphNode& padding = graph.nodes[0];
  EXPECT_EQ(padding.name, "I.pad");
  EXPECT_EQ(padding.role, MiniGraphRole::intermediate);
  EXPECT_TRUE(padding.may_be_inlined && padding.may_share_loops);
  const MiniGraphNode& main = graph.nodes[1];
  EXPECT_EQ(main.role, MiniGraphRole::reducing);
  EXPECT_FALSE(main.may_be_inlined || main.may_share_loops);
}

// Along x images lie side by side, along f the filters can be packed so; along y nothing is.
TEST(MiniGraph, VectorsRunWhereElementsLieSideBySideOrCan) {
  const MiniGraph convolved = mini_graph_of(convolution("conv2d"));
  EXPECT_THAT(names_of_loops(convolved, convolved.nodes[1]), ElementsAre("x", "f"));
  const auto innermost_of = [](const std::string& text, const std::vector<std::string>& constants) {
    const MiniGraph graph =
        mini_graph_of(make_task("t", parse_dag(text).value(), generic_target("x86-avx2"), constants).value());
    return names_of_loops(graph, graph.nodes.back());
  };
  EXPECT_THAT(innermost_of("C[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]", {}), ElementsAre("j"));
  EXPECT_THAT(innermost_of("C[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]", {"A"}), ElementsAre("j", "i"));
  EXPECT_THAT(innermost_of("C[i:8, j:1] = sum(r:8) A[i,r] * B[r,j]", {}), ElementsAre("i"));
  EXPECT_THAT(innermost_of("C[i:1] = sum(r:8) A[i,r]", {}), IsEmpty());
}

TEST(MiniGraph, AnElementWiseConsumerMayTakeResults) {
  const MiniGraph graph = mini_graph_of(convolution("conv2d_bn_relu"));
  std::vector<std::string> sharing;
  for (const MiniGraphNode& node : graph.nodes) {
    if (node.role == MiniGraphRole::reducing && node.may_share_loops) sharing.push_back(node.name);
  }
  EXPECT_EQ(sharing.size(), 1u);
  EXPECT_EQ(graph.nodes.back().role, MiniGraphRole::result);
}

TEST(MiniGraph, WhatConstantsGiveIsNoQuestion) {
  const Task task =
      make_task("t", parse_dag("S[r:8, j:8] = B[r,j] * 2.0\nC[i:8, j:8] = sum(r:8) A[i,r] * S[r,j]").value(),
                generic_target("x86-avx2"), {"B"})
          .value();
  const MiniGraph graph = mini_graph_of(task);
  EXPECT_EQ(graph.nodes[0].role, MiniGraphRole::prepared);
  EXPECT_FALSE(graph.nodes[0].may_be_inlined);
}

// Every node reads the one before twice: inlined they would double each time.
TEST(MiniGraph, AChainIsInlinedAsLongAsItStaysSmall) {
  std::string text = "P0[i:8] = A[i] + 1.0\n";
  for (int i = 1; i < 12; ++i)
    text += "P" + std::to_string(i) + "[i:8] = P" + std::to_string(i - 1) + "[i] * P" +
            std::to_string(i - 1) + "[i]\n";
  const MiniGraph graph =
      mini_graph_of(make_task("t", parse_dag(text).value(), generic_target("x86-avx2")).value());
  std::set<std::string> inlined;
  for (const MiniGraphNode& node : graph.nodes) {
    if (node.may_be_inlined) inlined.insert(node.name);
  }
  EXPECT_GE(inlined.size(), 2u);
  EXPECT_LT(inlined.size(), 11u);
  EXPECT_EQ(with_inlined(graph.task.dag, inlined).computes.size(), 12 - inlined.size());
}

TEST(MiniGraph, LoopsOfOneIterationAreNone) {
  const Dag dag = parse_dag("C[b:1, i:4, j:5] = sum(r:1, t:3) A[b,i,r,t] * B[j,r,t]").value();
  EXPECT_THAT(loops_of(dag.computes[0], AxisKind::spatial), ElementsAre(1, 2));
  EXPECT_THAT(loops_of(dag.computes[0], AxisKind::reduce), ElementsAre(4));
}

}  // namespace
}  // namespace lathe::testing
