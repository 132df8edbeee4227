// An element-wise stage, decided and written; layouts that are chosen for its vectors are in
// layout_choice_test.cpp.
#include "space/rules/pointwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text_cursor.h"
#include "schedule/programs.h"
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

std::string steps(const RuleCase& c, const Choices& answers = {}) {
  const PointwiseDecision decision = decided(c, answers);
  return c.written([&](Writer& writer) { write_pointwise(writer, decision); });
}

TEST(Pointwise, ARowThatIsTooShortHasNoVectors) {
  EXPECT_EQ(steps(RuleCase("O[i:1] = A[i] + 1.0")), "reorder O i\n");
}

TEST(Pointwise, AnAxisOfOneElementGoesOutermostWhereLayoutsAreOpen) {
  EXPECT_EQ(
      steps(RuleCase("O[i:30, j:1] = A[i,j] + B[j]")),
      "layout O [1][0]\nlayout A [1][0]\nreorder O j i\nsplit O i [2 8]\nunroll O i.1\nvectorize O i.2\n"
      "tail O i overlap\n");
}

TEST(Pointwise, OfASingleNumberNothingIsWritten) {
  const RuleCase c("O[] = A[] + 1.0");
  EXPECT_THAT(decided(c).order, IsEmpty());
  EXPECT_EQ(steps(c), "");
}

// Three elements are two lanes, and the last vector lies over the one before.
TEST(Pointwise, ShortVectorsAreOfAPowerOfTwo) {
  EXPECT_EQ(
      steps(RuleCase("O[i:30, j:3] = A[j,i] * 2.0"), {{"O.vectors", {1}}}),
      "layout A [1][0]\nreorder O i j\nfuse O i j\nsplit O i_j [1 8]\nunroll O i_j.1\nvectorize O i_j.2\n"
      "tail O i mask\ntail O j mask\n");
  const RuleCase window("O[i:30, j:3] = A[i,j+1] * 2.0");
  EXPECT_EQ(decided(window).tile.lanes, 2);
  EXPECT_EQ(decided(window).tail, Tail::overlap);
}

// Vectors are as wide as the widest type that the program computes in.
TEST(Pointwise, LanesFollowTheType) {
  EXPECT_EQ(decided(RuleCase("input A[30, 64] f64\nO[i:30, j:64] = A[i,j] * A[i,j]")).tile.lanes, 4);
  EXPECT_EQ(decided(RuleCase("O[i:30, j:64] = A[i,j+1] * 2.0")).tile.lanes, 8);
}

// Rows whose values a condition chooses stay loops of their own: it is then the same for all lanes.
TEST(Pointwise, AConditionOnTheLastAxisKeepsRowsApart) {
  EXPECT_THAT(decided(RuleCase("O[i:8, j:4] = A[i,j] * 2.0")).fused, ElementsAre("i", "j"));
  EXPECT_THAT(decided(RuleCase("O[i:8, j:4] = select(j < 3, A[i,j], 0.0)")).fused, IsEmpty());
}

TEST(Pointwise, ACopyThatIsNotWholeKeepsRowsApart) {
  EXPECT_THAT(decided(RuleCase("O[i:8, j:4] = A[i,j+1] * 2.0")).fused, IsEmpty());
  EXPECT_THAT(decided(RuleCase("O[i:8, j:4] = A[i,j] + b[i]")).fused, IsEmpty());
}

// In a layout of blocks each axis has the loops that memory has.
TEST(Pointwise, BlocksOfMemoryAreLoops) {
  const RuleCase c("O[i:12, j:64] = A[i,j] * 2.0");
  const auto decide = [&](Decider& decider) {
    TextCursor text("[1/16][0][1%16]", "layout");
    decider.set_layout(decider.compute(c.stage(0)).output, parse_layout(text).value());
    return decide_pointwise(decider, c.stage(0));
  };
  const PointwiseDecision decision = c.decided({{"O.vectors", {2}}}, decide);
  EXPECT_THAT(decision.order, ElementsAre("j.0", "i", "j.1"));
  EXPECT_THAT(decision.splits, ElementsAre(::testing::Pair("j", 16)));
}

// Both parts of one axis innermost are not two axes side by side.
TEST(Pointwise, PartsOfOneAxisStayLoops) {
  const RuleCase c("O[i:12, j:64] = A[i,j] * 2.0");
  for (const auto& [layout, inner] : {std::pair{"[0][1/4][1%4]", "j.1"}, std::pair{"[0][1%4][1/4]", "j.0"}}) {
    const auto decide = [&](Decider& decider) {
      TextCursor text(layout, "layout");
      decider.set_layout(decider.compute(c.stage(0)).output, parse_layout(text).value());
      return decide_pointwise(decider, c.stage(0));
    };
    const PointwiseDecision decision = c.decided({}, decide);
    EXPECT_EQ(decision.order.back(), inner) << layout;
    EXPECT_THAT(decision.fused, IsEmpty()) << layout;
    EXPECT_EQ(decision.vector_loop, inner) << layout;
  }
}

TEST(Pointwise, LongStagesAreSharedAmongTheCores) {
  const auto text = [](const char* formula) { return steps(RuleCase(formula, {}, 4)); };
  EXPECT_THAT(text("O[i:4000, j:512] = A[i,j+1] * 2.0"), ::testing::HasSubstr("parallel O i\n"));
  EXPECT_THAT(text("O[i:4, j:16] = A[i,j+1] * 2.0"), ::testing::Not(::testing::HasSubstr("parallel")));
  EXPECT_THAT(text("O[i:2, k:300, j:512] = A[i,k,j+1] * 2.0"),
              ::testing::HasSubstr("fuse O i k\nparallel O i_k\n"));
}

// Whatever is answered, the program computes the same.
TEST(Pointwise, WhatIsWrittenComputesTheSame) {
  for (const char* formula : {"O[i:7, j:13] = A[i,j+1] * 2.0 + B[i]", "O[i:7, j:13] = A[j,i]",
                              "O[y:3, i:5, j:4] = A[y,i,j] * B[y,i,j]",
                              "O[i:9, j:21] = select(j < 5, A[i,j], B[j,i])", "O[i:33] = exp(A[i])"}) {
    for (const int cores : {1, 3}) {
      const RuleCase c(formula, {}, cores);
      for (const Choices& answers : {Choices{}, Choices{{"O.vectors", {1}}}}) {
        const std::string text = steps(c, answers);
        SCOPED_TRACE(text);
        const Result<Program> program = apply_trace(c.task(), parse_trace(text).value());
        ASSERT_TRUE(program) << program.error().to_string();
        expect_same_result(naive_program(c.task()), *program);
      }
    }
  }
}

}  // namespace
}  // namespace lathe::testing
