#include "space/flextensor/node_layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

// The places that the last compute of a case decides; its epilogue takes its results or does not.
std::string places_of(const RuleCase& c, const NodeConfig& config, size_t compute,
                      bool takes_results = false) {
  Chooser chooser;
  Decider decider = c.decider(chooser);
  const NodeNest nest = nest_of(c.dag().computes[compute], config, decider.lanes());
  place_tensors(decider, c.stage(compute), config, nest, takes_results);
  return text_of(decider.take_places());
}

constexpr const char* kConvolution =
    "O[f:32, y:6, x:6] = sum(c:24, k:3, l:3) I[c, y + k, x + l] * W[f, c, k, l]";

NodeConfig config_of_convolution(size_t innermost) {
  return {.parts = {{1, 1, 2, 16}, {6, 1, 1, 1}, {1, 1, 1, 6}, {4, 2, 3}, {3, 1, 1}, {3, 1, 1}},
          .order = {0, 1, 2},
          .innermost = innermost};
}

// NCHWc ([F] 6.3): filters in panels as wide as the tile, images in blocks of the innermost channel loop,
// results in vectors of channels.
TEST(NodeLayouts, ChannelsLieInBlocksWhereVectorsRunAlongThem) {
  const RuleCase c(kConvolution, {"W"});
  EXPECT_EQ(places_of(c, config_of_convolution(0), 0),
            "layout I [0/3][1][2][0%3]\n"
            "cache_read O W W.pack at=prepare scope=workspace layout=[0/16][1][2][3][0%16]\n"
            "layout O [0/8][1][2][0%8]\n");
}

TEST(NodeLayouts, ImagesStayAsTheyLieWhereVectorsRunAlongTheirRows) {
  const RuleCase c(kConvolution, {"W"});
  EXPECT_EQ(places_of(c, config_of_convolution(2), 0), "");
}

TEST(NodeLayouts, GivenLayoutsAreKept) {
  RuleCase c(kConvolution, {"W"});
  for (Argument& argument : c.task().arguments) argument.layout_is_free = false;
  EXPECT_EQ(places_of(c, config_of_convolution(0), 0),
            "cache_read O W W.pack at=prepare scope=workspace layout=[0/16][1][2][3][0%16]\n");
}

TEST(NodeLayouts, WhatTakesTheResultsLiesAsTheyWould) {
  const RuleCase c("P[i:16, j:16] = sum(k:8) A[i,k] * B[k,j]\nC[i:16, j:16] = max(P[i,j], 0.0)");
  const NodeConfig config = {
      .parts = {{2, 1, 1, 8}, {4, 1, 4, 1}, {8, 1, 1}}, .order = {0, 1}, .innermost = 0};
  EXPECT_THAT(places_of(c, config, 0, true), ::testing::HasSubstr("layout C [0/8][1][0%8]\n"));
  EXPECT_THAT(places_of(c, config, 0), ::testing::HasSubstr("layout P [0/8][1][0%8]\n"));
}

// A copy replaces every read of its tensor, which the second one would not find.
TEST(NodeLayouts, WhatIsReadTwiceIsNotPacked) {
  const RuleCase c("C[i:16, j:16] = sum(k:8) A[i,k] * B[k,j] * B[k,j]", {"B"});
  const NodeConfig config = {
      .parts = {{16, 1, 1, 1}, {2, 1, 1, 8}, {8, 1, 1}}, .order = {0, 1}, .innermost = 1};
  EXPECT_EQ(places_of(c, config, 0), "");
}

TEST(NodeLayouts, IntermediatesFollowMemory) {
  const RuleCase c("P[c:24, y:6, x:10] = I[c,y,x] + 1.0\nO[c:24, y:6, x:10] = P[c,y,x]");
  const Compute& compute = c.dag().computes[0];
  const NodeConfig plain = {.parts = {{24}, {6}, {10}}, .order = {0, 1, 2}};
  const NodeConfig rows = along_memory(compute, plain, Layout::row_major(3), 8);
  EXPECT_EQ(rows.innermost, 2u);
  EXPECT_THAT(rows.parts[2], ElementsAre(2, 5));
  const NodeConfig blocks = along_memory(compute, plain, {{{0, 3, 0, 0}, {1}, {2}, {0, 1, 3, 0}}}, 8);
  EXPECT_EQ(blocks.innermost, 0u);
  EXPECT_THAT(blocks.parts[0], ElementsAre(8, 3));
  EXPECT_THAT(blocks.order, ElementsAre(0, 1, 2));
  const int channels_last[] = {1, 2, 0};
  EXPECT_THAT(along_memory(compute, plain, Layout::permuted(channels_last), 8).order, ElementsAre(1, 2, 0));
}

}  // namespace
}  // namespace lathe::testing
