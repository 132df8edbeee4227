// Where a product's operands and results are decided to lie.
#include <gtest/gtest.h>

#include "space/rules/product/product.h"
#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

ProductDecision decided(const RuleCase& c, const Choices& answers, const TileAxes& tile = {1, 0}) {
  return c.decided(answers, [&](Decider& decider) { return decide_product(decider, c.stage(0), tile); });
}

std::string places(const RuleCase& c, const Choices& answers = {}) {
  return text_of(decided(c, answers).places);
}

TEST(ProductOperands, AConstantIsPackedBeforehand) {
  const RuleCase c("C[i:40, j:64] = sum(r:36) A[i,r] * B[r,j]", {"B"});
  const ProductDecision decision = decided(c, {{"C.vectors", {2}}});
  EXPECT_EQ(text_of(decision.places),
            "cache_read C B B.pack at=prepare scope=workspace layout=[1/16][0][1%16]\n");
  EXPECT_EQ(decision.panels, "B.pack");
  EXPECT_TRUE(decision.is_padded);
}

// An argument that nothing else reads comes in panels at once; one that is read twice is copied, or read
// where it lies.
TEST(ProductOperands, WhatIsKnownAtRunTimeMayComeInPanels) {
  const RuleCase alone("C[i:90, j:64] = sum(r:36) A[i,r] * B[r,j]");
  EXPECT_EQ(places(alone, {{"C.vectors", {2}}}), "layout B [1/16][0][1%16]\n");
  const RuleCase shared("C[i:90, j:64] = sum(r:36) A[i,r] * B[r,j]\nO[r:36, j:64] = B[r,j] + C[r,j]");
  EXPECT_EQ(places(shared, {{"C.vectors", {2}}, {"C.pack", {1}}}),
            "cache_read C B B.pack at=root scope=workspace layout=[1/16][0][1%16]\n");
  const ProductDecision in_place = decided(shared, {{"C.vectors", {2}}, {"C.pack", {0}}});
  EXPECT_EQ(text_of(in_place.places), "");
  EXPECT_FALSE(in_place.is_padded);
  EXPECT_FALSE(in_place.ahead) << "there is no next panel";
}

TEST(ProductOperands, BlockedResultsLieAsTheTileWritesThem) {
  const RuleCase c("C[i:40, j:64] = sum(r:36) A[i,r] * B[r,j]", {"B"});
  EXPECT_EQ(places(c, {{"C.vectors", {1}}, {"C.blocked", {1}}}),
            "cache_read C B B.pack at=prepare scope=workspace layout=[1/8][0][1%8]\n"
            "layout C [1/8][0][1%8]\n");
}

// Rows that would meet in one set of the first-level cache lie a line further apart.
TEST(ProductOperands, RowsAreSpreadOverTheSets) {
  const RuleCase c("C[i:16, j:32] = sum(r:1024) A[i,r] * B[r,j]", {"B"});
  EXPECT_NE(places(c).find("layout A [0][1+16]\n"), std::string::npos) << places(c);
}

}  // namespace
}  // namespace lathe::testing
