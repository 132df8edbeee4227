#include "space/flextensor/node_nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

Compute product() { return parse_dag("C[i:64, j:64] = sum(k:32) A[i,k] * B[k,j]").value().computes[0]; }

// i in 2 x 4 x 2 x 4, j in 2 x 1 x 2 x 16, k in 2 x 4 x 4.
NodeConfig config_of_product() {
  return {.parts = {{2, 4, 2, 4}, {2, 1, 2, 16}, {2, 4, 4}}, .order = {0, 1}, .innermost = 1, .fused = 2};
}

std::vector<std::string> names_of_loops(const std::vector<NestLoop>& loops) {
  std::vector<std::string> names;
  for (const NestLoop& loop : loops) names.push_back(loop.name);
  return names;
}

std::vector<std::string> loops_of_kind(const NodeNest& nest, LoopKind kind) {
  std::vector<std::string> names;
  for (const NestLoop& loop : nest.inner) {
    if (loop.kind == kind) names.push_back(loop.name);
  }
  return names;
}

// [F] figure 3d: three loops into many, reordered, the outermost ones fused, the innermost a vector. A part
// of one iteration is no loop; two vectors of 8 make the 16 of j.
TEST(NodeNest, TheLoopsOfAProduct) {
  const NodeNest nest = nest_of(product(), config_of_product(), 8);
  ASSERT_EQ(nest.splits.size(), 3u);
  EXPECT_THAT(nest.splits[0].factors, ElementsAre(4, 2, 4));
  EXPECT_THAT(nest.splits[1].factors, ElementsAre(2, 2, 8));
  EXPECT_THAT(nest.splits[2].factors, ElementsAre(4, 4));
  EXPECT_THAT(names_of_loops(nest.outer), ElementsAre("i.0", "j.0", "i.1", "i.2", "j.1"));
  EXPECT_THAT(names_of_loops(nest.inner), ElementsAre("k.0", "k.1", "k.2", "i.3", "j.2", "j.3"));
  EXPECT_THAT(nest.outer_names(), ElementsAre("i.0_j.0", "i.1", "i.2", "j.1"));
  EXPECT_EQ(nest.parallel_loop(), 0u);
  EXPECT_EQ(nest.tile_loop(), 3u);
  EXPECT_EQ(nest.whole_sum_loop(), 3u);
  EXPECT_THAT(loops_of_kind(nest, LoopKind::vectorized), ElementsAre("j.3"));
}

TEST(NodeNest, LevelsTakeTurnsInThreeWays) {
  NodeConfig config = config_of_product();
  config.levels = 1;
  const NodeNest second = nest_of(product(), config, 8);
  EXPECT_THAT(names_of_loops(second.outer), ElementsAre("i.0", "j.0", "i.1", "k.0", "i.2", "j.1"));
  EXPECT_EQ(second.whole_sum_loop(), 1u) << "the last loop around all of k";
  config.levels = 2;
  const NodeNest third = nest_of(product(), config, 8);
  EXPECT_THAT(names_of_loops(third.outer), ElementsAre("i.0", "j.0", "k.0", "i.1", "k.1", "i.2", "j.1"));
  EXPECT_EQ(third.whole_sum_loop(), 0u);
  EXPECT_EQ(third.tile_loop(), 5u);
}

TEST(NodeNest, UnrollWritesOutTheTileOrUpToSoManyStatements) {
  NodeConfig config = config_of_product();
  const NodeNest none = nest_of(product(), config, 8);
  EXPECT_EQ(none.statements, 1);
  EXPECT_FALSE(none.has_whole_tile());
  config.unroll = 1;
  const NodeNest tile = nest_of(product(), config, 8);
  EXPECT_THAT(loops_of_kind(tile, LoopKind::unrolled), ElementsAre("i.3", "j.2"));
  EXPECT_EQ(tile.statements, 4 * 2);
  EXPECT_TRUE(tile.has_whole_tile());
  EXPECT_EQ(tile.vectors_of_tile(), 8);
  config.unroll = 512;
  const NodeNest more = nest_of(product(), config, 8);
  EXPECT_THAT(loops_of_kind(more, LoopKind::unrolled), ElementsAre("k.0", "k.1", "k.2", "i.3", "j.2"));
  EXPECT_EQ(more.statements, 256);
  config.parts[1] = {1, 1, 1, 64};
  EXPECT_EQ(nest_of(product(), config, 8).statements, 512) << "of 1024 the loop k.0 is not written out";
}

TEST(NodeNest, AVectorHasTheLargestDivisorThatFits) {
  NodeConfig config = config_of_product();
  config.parts[1] = {1, 1, 64, 1};
  const NodeNest scalar = nest_of(product(), config, 8);
  EXPECT_FALSE(scalar.vector_axis);
  EXPECT_EQ(scalar.inner.back().name, "i.3");
}

// A quotient that differs between lanes leaves no vector.
TEST(NodeNest, LanesThatReadAtOtherStepsCountEach) {
  const auto statements = [](const std::string& index) {
    const Compute compute =
        parse_dag("input A[99, 9] C[f:64] = sum(k:9) A[" + index + ",k]").value().computes[0];
    return nest_of(compute, {.parts = {{2, 1, 2, 16}, {9, 1, 1}}, .order = {0}, .innermost = 0, .unroll = 1},
                   8)
        .statements;
  };
  EXPECT_EQ(statements("f"), 2);
  EXPECT_EQ(statements("f/16"), 2);
  EXPECT_EQ(statements("f/4"), 16);
  EXPECT_EQ(statements("f%24"), 2);
}

TEST(NodeNest, ATileOfAllResultsHasNoLoopAround) {
  NodeConfig config = config_of_product();
  config.parts = {{1, 1, 1, 64}, {1, 1, 1, 64}, {32, 1, 1}};
  const NodeNest nest = nest_of(product(), config, 8);
  EXPECT_TRUE(nest.outer.empty());
  EXPECT_FALSE(nest.tile_loop() || nest.parallel_loop() || nest.whole_sum_loop());
}

// The batch of one stays out of what is fused.
TEST(NodeNest, LoopsOfOneIterationAreOutOfTheWay) {
  const Compute compute =
      parse_dag("C[b:1, i:8, n:1, j:8] = sum(t:1, k:4) A[b,i,t,k] * B[n,j,t,k]").value().computes[0];
  const NodeNest nest = nest_of(compute,
                                {.parts = {{1}, {4, 1, 2, 1}, {1}, {2, 2, 1, 2}, {1}, {1, 2, 2}},
                                 .order = {1, 3},
                                 .innermost = 3,
                                 .fused = 3},
                                8);
  EXPECT_THAT(nest.outer_names(), ElementsAre("b", "n", "i.0_j.0_j.1", "i.1"));
  EXPECT_THAT(names_of_loops(nest.inner), ElementsAre("t", "k.0", "k.1", "j.2"));
  EXPECT_EQ(nest.extent_inside(2, 1), 2);
  EXPECT_EQ(nest.extent_inside(2, 3), 2);
  EXPECT_EQ(nest.extent_inside(1, 1), 8);
  EXPECT_EQ(nest.extent_inside(3, 5), 4);
}

}  // namespace
}  // namespace lathe
