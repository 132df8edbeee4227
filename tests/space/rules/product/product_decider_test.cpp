// What is known while a product is decided: the extents of its loops, alone and in a group, and what its
// decision says of where it stands.
#include "space/rules/product/product_decider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::Pair;

const Choices kSmall = {
    {"C.vectors", {1}}, {"C.rows", {6}}, {"C.panels", {1}}, {"C.row_tiles", {1}}, {"C.order", {0}}};

ProductDecision decided(const RuleCase& c, const TileAxes& tile, const GroupedLoops& group = {}) {
  return c.decided(
      kSmall, [&](Decider& decider) { return ProductDecider(decider, c.stage(0), tile, group).decide(); });
}

TEST(ProductDecider, LoopsHaveTheExtentsOfTheirAxes) {
  const RuleCase c("C[b:5, i:96, j:64] = sum(r:48) A[b,i,r] * B[r,j]", {"B"});
  const ProductDecision decision = decided(c, {2, 1});
  EXPECT_THAT(decision.outer, ::testing::Contains(Pair("b.0", 5)));
  EXPECT_THAT(decision.outer, ::testing::Contains(Pair("i.0", 16)));
  EXPECT_THAT(decision.outer, ::testing::Contains(Pair("j.0", 8)));
  EXPECT_FALSE(decision.is_grouped);
  EXPECT_EQ(decision.stage, 0U);
  EXPECT_EQ(decision.tile.vector, 2U);
  EXPECT_EQ(decision.tile.rows, 1U);
}

TEST(ProductDecider, AGroupHasAPartOfAnAxis) {
  const RuleCase c("C[i:96, j:64] = sum(r:48) A[i,r] * B[r,j]", {"B"});
  const ProductDecision decision = decided(c, {1, 0}, {.axis = 0, .size = 24});
  EXPECT_TRUE(decision.is_grouped);
  EXPECT_THAT(decision.outer, ::testing::Contains(Pair("i.0", 4)));
  EXPECT_THAT(decision.outer, ::testing::Contains(Pair("j.0", 8)));
}

TEST(ProductDecider, AndOnePlaceOfSingleAxes) {
  const RuleCase c("C[i:96, j:64] = sum(r:48) A[i,r] * B[r,j]", {"B"});
  const ProductDecision decision = decided(c, {1, 0}, {.axis = 1, .size = 64, .single = {0}});
  EXPECT_EQ(decision.sizes.rows, 1) << "of the axis that has one place";
}

// A matrix times a vector has no rows; its panels are read side by side.
TEST(ProductDecider, WithoutRowsThereAreStreams) {
  const RuleCase c("C[i:512] = sum(r:48) A[i,r] * x[r]", {"A"});
  const ProductDecision decision = c.decided({}, [&](Decider& decider) {
    return ProductDecider(decider, c.stage(0), {0, std::nullopt}, {}).decide();
  });
  EXPECT_EQ(decision.sizes.rows, 1);
  EXPECT_EQ(decision.sizes.vectors * decision.sizes.streams, 8);
  EXPECT_EQ(decision.other, std::nullopt);
}

}  // namespace
}  // namespace lathe::testing
