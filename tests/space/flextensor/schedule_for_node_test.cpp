#include "space/flextensor/schedule_for_node.h"

#include <gtest/gtest.h>

#include "space/flextensor/small_cases.h"

namespace lathe::testing {
namespace {

Task product(int cores) {
  return make_task("t", parse_dag("C[i:64, j:64] = sum(k:32) A[i,k] * B[k,j]").value(),
                   with_cores(generic_target("x86-avx2"), cores), {"B"})
      .value();
}

NodeConfig config_of_product() {
  return {.parts = {{2, 4, 2, 4}, {2, 1, 2, 16}, {2, 4, 4}},
          .order = {0, 1},
          .innermost = 1,
          .fused = 2,
          .unroll = 1};
}

Trace steps_of(const Task& task, const NodeConfig& config) {
  const MiniGraph graph = mini_graph_of(task);
  Chooser choose;
  const GraphPlan plan = plan_graph(graph, {{"C", config}}, {}, choose).value();
  Writer writer{{graph.task, plan.dag, plan.classified, graph.costs}};
  schedule_for_node(writer, plan.nodes[0]);
  return writer.trace;
}

// [F] figure 3d and "Schedule for CPU" of 5.3.
TEST(ScheduleForNode, StepsOfAProduct) {
  const Task task = product(2);
  const Trace trace = steps_of(task, config_of_product());
  EXPECT_EQ(to_string(trace),
            "cache_read C B B.pack at=prepare scope=workspace layout=[1/16][0][1%16]\n"
            "split C i [4 2 4]\n"
            "split C j [2 2 8]\n"
            "split C k [4 4]\n"
            "reorder C i.0 j.0 i.1 i.2 j.1 k.0 k.1 k.2 i.3 j.2 j.3\n"
            "fuse C i.0 j.0\n"
            "parallel C i.0_j.0\n"
            "unroll C i.3\n"
            "unroll C j.2\n"
            "vectorize C j.3\n"
            "cache_write C C.acc at=j.1 scope=registers\n"
            "split C.acc.out j [8]\n"
            "reorder C.acc.out i j.0 j.1\n"
            "unroll C.acc.out i\n"
            "unroll C.acc.out j.0\n"
            "vectorize C.acc.out j.1\n");
  FlextensorReference(task).expect_same(trace, true);
}

// A part of the sum goes to memory and comes again.
TEST(ScheduleForNode, ReduceLoopsAroundTheTileLoadWhatIsThere) {
  NodeConfig config = config_of_product();
  config.levels = 1;
  config.parts[1] = {2, 1, 4, 8};
  const Task task = product(1);
  const Trace trace = steps_of(task, config);
  const std::string text = to_string(trace);
  EXPECT_NE(text.find("cache_write C C.acc at=j.1 scope=registers\n"
                      "reorder C.acc.in i j\n"
                      "unroll C.acc.in i\n"
                      "vectorize C.acc.in j\n"
                      "reorder C.acc.out i j\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("parallel"), std::string::npos) << "one core does it all";
  FlextensorReference(task).expect_same(trace, true);
}

TEST(ScheduleForNode, ATileThatIsNotWrittenOutIsCollectedInMemory) {
  NodeConfig config = config_of_product();
  config.unroll = 0;
  const Task task = product(1);
  const Trace trace = steps_of(task, config);
  EXPECT_NE(to_string(trace).find("cache_write C C.acc at=j.1 scope=thread\n"), std::string::npos);
  FlextensorReference(task).expect_same(trace, true);
}

// Vectors along the other axis than the last have it last where they are collected.
TEST(ScheduleForNode, MemoryThatCollectsVectorsHasTheirAxisLast) {
  NodeConfig config = config_of_product();
  config.unroll = 0;
  config.innermost = 0;
  const Task task = product(1);
  const Trace trace = steps_of(task, config);
  EXPECT_NE(to_string(trace).find("layout C.acc [1][0]\n"), std::string::npos) << to_string(trace);
  FlextensorReference(task).expect_same(trace, true);
}

TEST(ScheduleForNode, WithoutALoopAroundTheTileResultsAreAddedUpInMemory) {
  NodeConfig config = config_of_product();
  config.parts = {{1, 1, 1, 64}, {1, 1, 1, 64}, {32, 1, 1}};
  const Task task = product(1);
  const Trace trace = steps_of(task, config);
  EXPECT_EQ(to_string(trace).find("cache_write"), std::string::npos);
  FlextensorReference(task).expect_same(trace, true);
}

}  // namespace
}  // namespace lathe::testing
