#include "space/flextensor/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/choices.h"
#include "rewrite/same_result.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

MiniGraph convolution() {
  return mini_graph_of(task_of_workload(R"({"name":"c", "op":"conv2d", "batch":1, "height":8, "width":8,
      "in_channels":8, "out_channels":16, "kernel":3, "stride":1, "padding":1})"));
}

std::vector<std::string> names_of_parameters(const Chooser& declared) {
  std::vector<std::string> names;
  for (const Parameter& parameter : declared.domain().parameters) names.push_back(parameter.name);
  return names;
}

// Split, reorder, fuse, and then the others ([F] 4.2).
TEST(FlextensorConfig, ANodeAsksForSplitsOrderAndFusionBeforeAllElse) {
  const MiniGraph graph = convolution();
  Chooser declaring;
  choose_node_config(declaring, graph, graph.nodes[1]);
  EXPECT_THAT(names_of_parameters(declaring), ElementsAre("O.f", "O.y", "O.x", "O.c", "O.ky", "O.kx",
                                                          "O.levels", "O.innermost", "O.fused", "O.unroll"));
  EXPECT_EQ(declaring.domain().parameters[0].slots(), 3);
  EXPECT_EQ(declaring.domain().parameters[3].slots(), 2);
}

TEST(FlextensorConfig, AnIntermediateIsNotTiled) {
  const MiniGraph graph = convolution();
  Chooser declaring;
  choose_node_config(declaring, graph, graph.nodes[0]);
  EXPECT_THAT(names_of_parameters(declaring), ElementsAre("I.pad.fused"));
}

TEST(FlextensorConfig, TheGraphAsksWhereNodesAreComputed) {
  const MiniGraph graph = convolution();
  Chooser declaring;
  EXPECT_EQ(choose_graph_config(declaring, graph).of("I.pad"), NodePlace::whole);
  EXPECT_THAT(names_of_parameters(declaring), ElementsAre("I.pad.place"));
  EXPECT_EQ(declaring.domain().size(), 4);
  const std::vector<int64_t> last = {3};
  Chooser replaying(declaring.domain(), last);
  const GraphConfig config = choose_graph_config(replaying, graph);
  EXPECT_EQ(config.of("I.pad"), NodePlace::inlined);
  EXPECT_THAT(config.inlined(), ElementsAre("I.pad"));
  EXPECT_EQ(config.of("O"), NodePlace::whole);
}

TEST(FlextensorConfig, PartsAreThoseOfThePointAndDivide) {
  const MiniGraph graph = convolution();
  Chooser declaring;
  choose_node_config(declaring, graph, graph.nodes[1]);
  const Domain& domain = declaring.domain();
  Rng rng(4);
  for (int i = 0; i < 50; ++i) {
    const std::vector<int64_t> point = sample(domain, rng);
    Chooser replaying(domain, point);
    const NodeConfig config = choose_node_config(replaying, graph, graph.nodes[1]);
    const Compute& compute = graph.compute(graph.nodes[1]);
    ASSERT_EQ(config.parts.size(), compute.axes.size());
    for (size_t axis = 0; axis < compute.axes.size(); ++axis) {
      int64_t product = 1;
      for (const int64_t part : config.parts[axis]) product *= part;
      EXPECT_EQ(product, compute.axes[axis].extent);
    }
    EXPECT_EQ(config.parts[1].back(), point[2]) << "the innermost factor of f";
  }
}

}  // namespace
}  // namespace lathe::testing
