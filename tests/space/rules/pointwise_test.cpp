// An element-wise stage, decided and written; layouts that are chosen for its vectors are in
// layout_choice_test.cpp.
#include "space/rules/pointwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PointwiseDecision decided(const RuleCase& c, const Choices& answers = {}) {
  return c.decided(answers, [&](Decider& decider) { return decide_pointwise(decider, c.stage(0)); });
}

TEST(Pointwise, RunsInTheOrderOfMemoryInVectors) {
  const RuleCase c("O[i:30, j:41] = A[i,j+1] + B[i]");
  const PointwiseDecision decision = decided(c, {{"O.vectors", {4}}});
  EXPECT_THAT(decision.order, ElementsAre("i", "j"));
  EXPECT_THAT(decision.fused, IsEmpty());
  EXPECT_EQ(decision.tile.vectors, 4);
  EXPECT_EQ(c.written([&](Writer& writer) { write_pointwise(writer, decision); }),
            "reorder O i j\nsplit O j [4 8]\nunroll O j.1\nvectorize O j.2\ntail O j overlap\n");
}

// What is copied as it lies runs over short rows as one.
TEST(Pointwise, ShortRowsOfACopyAreOneLoop) {
  const RuleCase c("O[y:6, i:8, j:4] = A[y,i,j] * B[y,i,j]");
  const PointwiseDecision decision = decided(c);
  EXPECT_THAT(decision.fused, ElementsAre("i", "j"));
  EXPECT_EQ(decision.vector_loop, "i_j");
  EXPECT_EQ(decision.tail, Tail::mask);
  EXPECT_THAT(decision.vector_axes, ElementsAre("i", "j"));
}

// A stage that is made inside of its reader is written there.
TEST(Pointwise, InsideOfItsReaderItIsNoBlock) {
  const RuleCase c(
      "input I[20, 8]\nP[x:22, c:8] = select(x >= 1 && x < 21, I[x - 1, c], 0.0)\n"
      "O[x:20, f:16] = sum(k:3, c:8) P[x + k, c] * W[k, c, f]",
      {"W"});
  const auto decide = [&](Decider& decider) {
    decider.row_loops.emplace("O", RowLoop{"x.0"});
    return decide_pointwise(decider, c.stage(0));
  };
  const auto text = [&](int64_t place) {
    const PointwiseDecision decision = c.decided({{"P.place", {place}}}, decide);
    return c.written([&](Writer& writer) { write_pointwise(writer, decision); });
  };
  EXPECT_EQ(text(2), "inline P\n");
  EXPECT_THAT(text(1), ::testing::StartsWith("compute_at P O x.0 scope=thread\nreorder P x c\n"));
  EXPECT_THAT(text(0), ::testing::StartsWith("reorder P x c\n"));
}

}  // namespace
}  // namespace lathe::testing
