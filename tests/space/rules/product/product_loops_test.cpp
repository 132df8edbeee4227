// The loops of a product: over cache blocks and tiles, shared among cores, and those of the reduction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/product/product.h"
#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const char* const kMatmul = "C[i:96, j:64] = sum(r:48) A[i,r] * B[r,j]";

ProductDecision decided(const RuleCase& c, const Choices& answers, const GroupedLoops& group = {}) {
  return c.decided(answers,
                   [&](Decider& decider) { return decide_product(decider, c.stage(0), {1, 0}, group); });
}

TEST(ProductLoops, TheOrderSaysWhatIsOutermost) {
  const RuleCase c(kMatmul, {"B"});
  const auto order = [&](int64_t number) { return names_of(decided(c, {{"C.order", {number}}}).outer); };
  EXPECT_THAT(order(0), ElementsAre("j.0", "i.0", "j.1", "i.1"));
  EXPECT_THAT(order(1), ElementsAre("i.0", "j.0", "j.1", "i.1"));
  EXPECT_THAT(order(2), ElementsAre("j.0", "i.0", "i.1", "j.1"));
  EXPECT_THAT(order(3), ElementsAre("i.0", "j.0", "i.1", "j.1"));
}

TEST(ProductLoops, ExtentsAreBlocksAndTiles) {
  const RuleCase c(kMatmul, {"B"});
  const ProductDecision decision = decided(
      c, {{"C.vectors", {1}}, {"C.rows", {6}}, {"C.panels", {4}}, {"C.row_tiles", {4}}, {"C.order", {0}}});
  EXPECT_EQ(decision.outer, (OuterLoops{{"j.0", 2}, {"i.0", 4}, {"j.1", 4}, {"i.1", 4}}));
}

TEST(ProductLoops, TheLastReduceLoopIsUnrolled) {
  const RuleCase c(kMatmul, {"B"});
  const ProductDecision decision = decided(c, {{"C.unroll", {4}}});
  ASSERT_EQ(decision.reduce.size(), 1u);
  EXPECT_EQ(decision.reduce[0].axis, "r");
  EXPECT_THAT(decision.reduce[0].factors, ElementsAre(4));
  EXPECT_THAT(decided(c, {{"C.unroll", {1}}}).reduce[0].factors, IsEmpty());
}

TEST(ProductLoops, CoresShareTilesButAGroupIsOfOne) {
  const RuleCase c(kMatmul, {"B"}, 2);
  EXPECT_FALSE(decided(c, {}).shared.shared.empty());
  EXPECT_TRUE(decided(c, {}, {0, 12, false}).shared.shared.empty());
  EXPECT_TRUE(
      decided(RuleCase("C[i:8, j:16] = sum(r:8) A[i,r] * B[r,j]", {"B"}, 2), {}).shared.shared.empty())
      << "it is done before the other core is told";
}

// The innermost loop that moves to another panel.
TEST(ProductLoops, TheNextPanelIsFetched) {
  const RuleCase c(kMatmul, {"B"});
  const auto ahead = [&](int64_t order, int64_t prefetch) {
    return decided(c,
                   {{"C.order", {order}}, {"C.prefetch", {prefetch}}, {"C.panels", {2}}, {"C.vectors", {1}}})
        .ahead.value_or("");
  };
  EXPECT_EQ(ahead(0, 1), "j.1");
  EXPECT_EQ(ahead(0, 0), "");
}

// Where nothing tells any more which loop takes a row, the first one is offered.
TEST(ProductLoops, ALoopOfRowsIsOffered) {
  const auto offered = [](int cores) {
    const RuleCase c(kMatmul, {"B"}, cores);
    return c.decided({{"C.order", {1}}}, [&](Decider& decider) {
      const ProductDecision decision = decide_product(decider, c.stage(0), {1, 0});
      return decider.row_loops.at("C").loop;
    });
  };
  EXPECT_EQ(offered(1), "i.0");
  EXPECT_NE(offered(2), "");
}

}  // namespace
}  // namespace lathe::testing
