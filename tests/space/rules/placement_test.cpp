#include "space/rules/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A padded image under a window of three places.
RuleCase padded(int width) {
  return RuleCase("input I[" + std::to_string(width) + ", 8]\nP[x:" + std::to_string(width + 2) +
                      ", c:8] = select(x >= 1 && x < " + std::to_string(width + 1) +
                      ", I[x - 1, c], 0.0)\nO[x:" + std::to_string(width) +
                      ", f:16] = sum(k:3, c:8) P[x + k, c] * W[k, c, f]",
                  {"W"});
}

Placement placed(const RuleCase& c, const Choices& answers, const RowLoop& loop = {"x.0"}) {
  return c.decided(answers, [&](Decider& decider) {
    decider.row_loops.emplace("O", loop);
    return decide_placement(decider, c.dag().computes[0]);
  });
}

TEST(Placement, PaddingIsPutIntoTheProductThatReadsIt) {
  const RuleCase c = padded(20);
  EXPECT_EQ(placed(c, {}).place, Place::inside);
  const Placement at_block = placed(c, {{"P.place", {1}}});
  EXPECT_EQ(at_block.place, Place::at_block);
  EXPECT_EQ(at_block.consumer, "O");
  EXPECT_EQ(at_block.loop, "x.0");
  EXPECT_EQ(placed(c, {{"P.place", {0}}}).place, Place::whole);
}

// Beyond the last row something is read for which only a stage of its own has room.
TEST(Placement, NotInsideOfAProductThatReadsBeyondItsRows) {
  EXPECT_EQ(placed(padded(20), {}, {"x.0", /*reads_beyond=*/true}).place, Place::whole);
}

TEST(Placement, WhatIsPackedIsMadeBeforeItIsRead) {
  const RuleCase c = padded(20);
  const auto decide = [&](Decider& decider) {
    decider.row_loops.emplace("O", RowLoop{"x.0"});
    decider.set_copy(c.dag().computes[0].output, false, "O", Layout::row_major(2));
    return decide_placement(decider, c.dag().computes[0]);
  };
  EXPECT_EQ(c.decided({}, decide).place, Place::whole);
}

// Without a loop of rows there is nothing to ask.
TEST(Placement, IsAskedWhereTheConsumerOffersALoop) {
  const RuleCase c = padded(20);
  const auto without_loop = [&](Decider& decider) { return decide_placement(decider, c.dag().computes[0]); };
  EXPECT_THAT(c.asked(without_loop), IsEmpty());
  const auto with_loop = [&](Decider& decider) {
    decider.row_loops.emplace("O", RowLoop{"x.0"});
    return decide_placement(decider, c.dag().computes[0]);
  };
  EXPECT_THAT(c.asked(with_loop), ElementsAre("P.place"));
}

}  // namespace
}  // namespace lathe::testing
