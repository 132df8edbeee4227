// Stages that run together for a block of rows, decided and written; which do is in
// analysis/row_block_test.cpp.
#include "space/rules/row_block.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RuleCase softmax() {
  return RuleCase(R"(M[i:16, j:24] = max(k:64) X[i,j,k]
E[i:16, j:24, k:64] = exp(X[i,j,k] - M[i,j])
T[i:16, j:24] = sum(k:64) E[i,j,k]
O[i:16, j:24, k:64] = E[i,j,k] / T[i,j])");
}

RowBlock block_of(const RuleCase& c) { return row_blocks_of(c.dag(), c.stages()).at(0); }

RowBlockDecision decided(const RuleCase& c, const Choices& answers) {
  return c.decided(answers, [&](Decider& decider) { return decide_row_block(decider, block_of(c), {}); });
}

TEST(RowBlockRule, WhatIsAsked) {
  const RuleCase c = softmax();
  EXPECT_THAT(c.asked([&](Decider& decider) { return decide_row_block(decider, block_of(c), {}); }),
              ElementsAre("O.rows", "O.vectors", "T.together", "E.vectors", "M.together"));
}

// As many rows go together as leave no rest of the block.
TEST(RowBlockRule, SumsOfSeveralRowsDivideTheBlock) {
  const RuleCase c = softmax();
  const RowBlockDecision decision = decided(c, {{"O.rows", {6}}, {"T.together", {4}}, {"M.together", {1}}});
  EXPECT_EQ(decision.size, 6);
  ASSERT_EQ(decision.members.size(), 3u);
  EXPECT_EQ(std::get<RowSums>(decision.members[0]).together, 2);
  EXPECT_TRUE(std::holds_alternative<RowVectors>(decision.members[1]));
  EXPECT_EQ(std::get<RowSums>(decision.members[2]).together, 1);
}

// A row of 200,000 numbers and their exponentials: the cache does not hold a 64th of all rows.
TEST(RowBlockRule, OfLongRowsThereAreFew) {
  const auto preferred = [](int keys) {
    const RuleCase c(
        fmt::format("M[i:1024] = max(k:{0}) X[i,k]\n"
                    "E[i:1024, k:{0}] = exp(X[i,k] - M[i])\n"
                    "T[i:1024] = sum(k:{0}) E[i,k]\n"
                    "O[i:1024, k:{0}] = E[i,k] / T[i]",
                    keys));
    const int64_t rows = decided(c, {}).size;
    return std::pair(rows, rows * keys * 4 <= c.task().target.cpu().l2.bytes);
  };
  EXPECT_EQ(preferred(200000).first, 1);
  const auto [rows, fits] = preferred(40000);
  EXPECT_TRUE(rows > 1 && rows < 16 && fits) << rows;
}

TEST(RowBlockRule, EverythingIsComputedAtTheLoopOfRows) {
  const RuleCase c = softmax();
  for (const int64_t rows : {1, 5, 24}) {
    const RowBlockDecision decision = decided(c, {{"O.rows", {rows}}});
    const std::string text = c.written([&](Writer& writer) { write_row_block(writer, decision); });
    EXPECT_THAT(text, HasSubstr("compute_at T O j.0 scope=thread\ncompute_at T.rf O j.0 scope=thread\n"
                                "compute_at E O j.0 scope=thread\n"));
    expect_same(RuleCase(c).task(), parse_trace(text).value());
  }
}

// The rows are those of a product's tile; no block where its vectors would run along them.
TEST(RowBlockRule, RowsAreThoseOfAProduct) {
  RowBlock block;
  block.last = 3;
  block.axes = {{1, {0, 1}}, {3, {0, 1}}};
  EXPECT_EQ(rows_of_block(block, {}), 1u) << "the last of the common axes";
  EXPECT_EQ(rows_of_block(block, {{1, TileAxes{2, 0}}}), 0u);
  EXPECT_EQ(rows_of_block(block, {{1, TileAxes{1, 0}}}), std::nullopt);
  EXPECT_EQ(rows_of_block(block, {{7, TileAxes{1, 0}}}), 1u) << "no stage of the block";
}

}  // namespace
}  // namespace lathe::testing
