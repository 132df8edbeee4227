#include "space/flextensor/graph_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/flextensor/small_cases.h"

namespace lathe::testing {
namespace {

Task padded_convolution() {
  return task_of_case(kFlextensorCases[6], "x86-avx2", 2, true);  // 6 to 16 channels, 12 x 8 pixels
}

// Channels in two tiles of 8, rows in three parts, the sum in two.
NodeConfigs configs_of_convolution() {
  return {{"I.pad", {.parts = {{1}, {6}, {14}, {10}}, .order = {1, 2, 3}}},
          {"O",
           {.parts = {{1}, {2, 1, 1, 8}, {3, 2, 2, 1}, {1, 2, 1, 4}, {2, 3, 1}, {3, 1, 1}, {3, 1, 1}},
            .order = {1, 2, 3},
            .innermost = 1,
            .fused = 2,
            .unroll = 1}}};
}

const NodePlan& node(const GraphPlan& plan, const std::string& name) {
  return *std::ranges::find(plan.nodes, name, [](const NodePlan& n) { return n.nest.block; });
}

Result<GraphPlan> planned(const Task& task, const NodeConfigs& configs,
                          const std::map<std::string, NodePlace>& places) {
  Chooser choose;
  return plan_graph(mini_graph_of(task), configs, {places}, choose);
}

// Of the image a parallel iteration reads 4 rows of a third's four results and the window's 3 less 1.
TEST(GraphPlan, AnIntermediateIsComputedInALoopOfItsConsumer) {
  const Task task = padded_convolution();
  const auto plan = planned(task, configs_of_convolution(), {{"I.pad", NodePlace::at_parallel}});
  ASSERT_TRUE(plan) << plan.error().to_string();
  const NodePlan& padding = node(*plan, "I.pad");
  ASSERT_TRUE(padding.host);
  EXPECT_EQ(padding.host->block, "O");
  EXPECT_EQ(padding.host->name, "f.0_y.0");
  EXPECT_EQ(padding.host->vector_axis, 1u) << "channels lie in blocks of the loop c.1";
  EXPECT_EQ(padding.host->lanes, 3);
  const auto deeper = planned(task, configs_of_convolution(), {{"I.pad", NodePlace::at_tile}});
  EXPECT_EQ(node(*deeper, "I.pad").host->name, "y.2");
}

TEST(GraphPlan, AnInlinedNodeIsLeftOut) {
  const auto plan = planned(padded_convolution(), configs_of_convolution(), {{"I.pad", NodePlace::inlined}});
  ASSERT_EQ(plan->nodes.size(), 1u);
  EXPECT_TRUE(plan->inlined.contains("I.pad"));
}

TEST(GraphPlan, ATileStaysInRegistersIfItIsWrittenOutAndSmall) {
  NodeConfigs configs = configs_of_convolution();
  const Task task = padded_convolution();
  EXPECT_EQ(node(*planned(task, configs, {}), "O").scope_of_tile(), Scope::registers);
  configs["O"].unroll = 0;
  EXPECT_EQ(node(*planned(task, configs, {}), "O").scope_of_tile(), Scope::thread);
  configs["O"].unroll = 1;
  configs["O"].parts[2] = {1, 1, 1, 12};
  configs["O"].parts[3] = {1, 1, 1, 8};
  EXPECT_EQ(node(*planned(task, configs, {}), "O").scope_of_tile(), Scope::registers) << "96 vectors";
  configs["O"].parts[1] = {1, 1, 1, 16};
  EXPECT_EQ(node(*planned(task, configs, {}), "O").scope_of_tile(), Scope::thread) << "192 vectors";
}

TEST(GraphPlan, AnElementWiseConsumerTakesResultsNoDeeperThanTheyAreComplete) {
  const Task task =
      make_task(
          "t",
          parse_dag("P[i:16, j:16] = sum(k:8) A[i,k] * B[k,j]\nC[i:16, j:16] = max(P[i,j], 0.0)").value(),
          generic_target("x86-avx2"))
          .value();
  NodeConfigs configs = {
      {"P", {.parts = {{2, 2, 2, 2}, {2, 1, 1, 8}, {2, 2, 2}}, .order = {0, 1}, .innermost = 1, .unroll = 1}},
      {"C", {.parts = {{16, 1}, {2, 8}}, .order = {0, 1}, .innermost = 1}}};
  const auto whole = planned(task, configs, {});
  EXPECT_FALSE(node(*whole, "P").taker || node(*whole, "C").is_taken);
  const auto fused = planned(task, configs, {{"P", NodePlace::at_tile}});
  EXPECT_TRUE(node(*fused, "C").is_taken);
  EXPECT_TRUE(node(*fused, "P").gives_tile());
  configs["P"].levels = 2;
  const auto partial = planned(task, configs, {{"P", NodePlace::at_tile}});
  EXPECT_FALSE(node(*partial, "P").gives_tile());
  EXPECT_EQ(node(*partial, "P").nest.outer_names()[node(*partial, "P").taker->loop], "j.0");
}

// Whatever else was answered the sentence names the block.
TEST(GraphPlan, ABodyOfTooManyStatementsIsAViolation) {
  const Task task = make_task("t", parse_dag("C[i:128, j:512] = sum(k:8) A[i,k] * B[k,j]").value(),
                              generic_target("x86-avx2"))
                        .value();
  NodeConfigs configs = {
      {"C",
       {.parts = {{1, 1, 1, 128}, {1, 1, 1, 512}, {8, 1, 1}}, .order = {0, 1}, .innermost = 1, .unroll = 1}}};
  EXPECT_EQ(planned(task, configs, {}).error().to_string(),
            "too long: the body of 'C' becomes 8192 statements by unrolling, of which 4096 are the most");
  configs["C"].unroll = 1500;
  EXPECT_EQ(node(*planned(task, configs, {}), "C").nest.statements, 64);
}

}  // namespace
}  // namespace lathe::testing
