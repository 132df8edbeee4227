#include "space/rules/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/workloads.h"
#include "space/all.h"
#include "space/rules/rule_case.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

// The program that Winograd's algorithm is preferred with.
std::string preferred_winograd(const char* workload, bool free_layouts) {
  const auto parsed = parse_workloads(workload, "test");
  const Task task =
      make_task(parsed->front(), with_cores(generic_target("x86-avx512"), 1), free_layouts).value();
  const Space space = derive_space(task).value();
  for (size_t i = 0; i < space.sketches().size(); ++i) {
    if (!space.sketches()[i].name.starts_with("winograd")) continue;
    return to_string(space.trace({static_cast<int>(i), space.sketches()[i].preferred}).value());
  }
  ADD_FAILURE() << "no sketch of Winograd's algorithm";
  return "";
}

// A video whose channels lie far apart, transformed along its frames alone: each pixel is gathered for every
// place of the window that meets it, or moved once to where its channels lie together.
TEST(Placement, TransformsReadPaddingThatIsGatheredOnce) {
  constexpr const char* kStem = R"([{"name":"c", "op":"conv3d", "batch":1, "depth":8, "height":32, "width":32,
      "in_channels":3, "out_channels":32, "kernel":3, "stride":1, "padding":1}])";
  EXPECT_THAT(preferred_winograd(kStem, true), HasSubstr("inline I.pad\n"));
  EXPECT_THAT(preferred_winograd(kStem, false), Not(HasSubstr("inline I.pad\n")));
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
