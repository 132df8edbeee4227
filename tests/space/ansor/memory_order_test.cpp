#include "space/ansor/memory_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

std::vector<NodeOutline> tiled_and_whole(const Dag& dag) {
  std::vector<NodeOutline> nodes;
  for (const Compute& compute : dag.computes) {
    const bool reduces = compute.reduction != Reduction::none;
    nodes.push_back(
        {.node = compute.output->name, .structure = reduces ? Structure::tiled : Structure::whole});
  }
  return nodes;
}

struct Decided {
  std::string places;
  std::vector<size_t> order;  // of the last compute
};

Decided decided_of(const char* text, const std::vector<std::string>& constants) {
  const RuleCase rule_case(text, constants);
  Chooser chooser;
  Decider decider = rule_case.decider(chooser);
  decide_layouts(decider, tiled_and_whole(rule_case.dag()));
  return {to_string(decider.take_places()), axis_order(decider, rule_case.dag().computes.back())};
}

// Channels of results are what constants alone follow plainly; those of the image are summed over.
TEST(MemoryOrder, ChannelsComeLastWhereLayoutsAreOpen) {
  const Decided decided = decided_of(
      "P[c:8, x:20] = select(1 <= x && x < 19, I[c, x - 1], 0.0)\n"
      "O[f:16, x:18] = sum(c:8, k:3) P[c, x + k] * W[f, c, k]",
      {"W"});
  EXPECT_EQ(decided.places, "layout O [1][0]\nlayout P [1][0]\nlayout I [1][0]\n");
  EXPECT_THAT(decided.order, ElementsAre(1, 0, 2, 3));
}

TEST(MemoryOrder, WithoutConstantsTheLastAxisStaysTheLast) {
  const Decided decided = decided_of("C[i:16, j:16] = sum(r:8) A[i, r] * B[j, r]", {});
  EXPECT_EQ(decided.places, "layout B [1][0]\n");
  EXPECT_THAT(decided.order, ElementsAre(0, 1, 2));
}

TEST(MemoryOrder, ChannelsThatFillNoVectorDoNotComeLast) {
  EXPECT_THAT(decided_of("O[f:7, x:16] = sum(c:8) A[c, x] * W[f, c]", {"W"}).order, ElementsAre(0, 1, 2));
  EXPECT_THAT(decided_of("O[f:8, x:16] = sum(c:8) A[c, x] * W[f, c]", {"W"}).order, ElementsAre(1, 0, 2));
}

TEST(MemoryOrder, WhatTakesTheResultsLiesAsTheyDo) {
  EXPECT_EQ(decided_of("C[f:16, x:18] = sum(c:8) A[x, c] * W[f, c]\nO[f:16, x:18] = max(C[f, x], 0.0)", {"W"})
                .places,
            "layout O [1][0]\nlayout C [1][0]\n");
}

TEST(MemoryOrder, ConstantsLieInTheOrderOfTheLoops) {
  const RuleCase rule_case("O[f:32, x:8] = sum(c:16, k:3) I[c, x + k] * W[f, c, k]", {"W"});
  Chooser chooser;
  Decider decider = rule_case.decider(chooser);
  const std::vector<int> spatial = {kOuter, kMiddle, kInner, kInnermost};
  const std::vector<int> reduce = {kOuterReduce, kInnerReduce};
  const NodeLoops loops =
      cut("O",
          {{.name = "x", .extent = 8, .axis = 1, .levels = spatial, .factors = {1, 2, 2}},
           {.name = "f", .extent = 32, .axis = 0, .levels = spatial, .factors = {2, 1, 8}},
           {.name = "c", .extent = 16, .axis = 2, .reduces = true, .levels = reduce, .factors = {4}},
           {.name = "k", .extent = 3, .axis = 3, .reduces = true, .levels = reduce, .factors = {1}}},
          1, 8);
  pack_constants(decider, rule_case.stage(0), loops);
  EXPECT_EQ(to_string(decider.take_places()),
            "cache_read O W W.pack at=prepare scope=workspace "
            "layout=[0/16][0/8%2][1/4][2][1%4][0%8]\n");
}

// The taps of a flipped kernel follow no loop plainly.
TEST(MemoryOrder, DimensionsThatNoLoopFollowsComeWhole) {
  const RuleCase rule_case("O[f:32, x:8] = sum(k:3) I[x + k] * W[2 - k, f]", {"W"});
  Chooser chooser;
  Decider decider = rule_case.decider(chooser);
  const NodeLoops loops =
      cut("O",
          {{.name = "x", .extent = 8, .axis = 1},
           {.name = "f", .extent = 32, .axis = 0, .levels = {kOuter, kInnermost}, .factors = {16}},
           {.name = "k", .extent = 3, .axis = 2, .reduces = true, .levels = {kInnerReduce}}},
          1, 8);
  pack_constants(decider, rule_case.stage(0), loops);
  EXPECT_EQ(to_string(decider.take_places()),
            "cache_read O W W.pack at=prepare scope=workspace layout=[1/16][0][1%16]\n");
}

}  // namespace
}  // namespace lathe::testing
