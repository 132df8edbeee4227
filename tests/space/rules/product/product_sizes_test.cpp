// The sizes of a product's tiles: what is asked, what is preferred, what does not go together.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/product/product.h"
#include "space/rules/rule_case.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

RuleCase matmul(int m = 96, int n = 64, int k = 48) {
  return RuleCase("C[i:" + std::to_string(m) + ", j:" + std::to_string(n) + "] = sum(r:" + std::to_string(k) +
                      ") A[i,r] * B[r,j]",
                  {"B"});
}

TileAxes vectors_j_rows_i() { return {1, 0}; }

std::string violation(const RuleCase& c, const Choices& answers) {
  return c.decided(answers, [&](Decider& decider) {
    decide_product(decider, c.stage(0), vectors_j_rows_i());
    return decider.violation ? decider.violation->message : std::string();
  });
}

TEST(ProductSizes, WhatIsAskedOfAMatmul) {
  const RuleCase c = matmul();
  const auto decide = [&](Decider& decider) {
    return decide_product(decider, c.stage(0), vectors_j_rows_i());
  };
  EXPECT_THAT(c.asked(decide), ElementsAre("C.vectors", "C.rows", "C.panels", "C.row_tiles", "C.order",
                                           "C.unroll", "C.blocked", "C.prefetch"));
}

// Two steps of a long sum go together where registers hold the panels of both.
TEST(ProductSizes, StepsGoTogetherWhereRegistersHoldTheirPanels) {
  const auto unroll = [](int rows) {
    const RuleCase c(fmt::format("C[i:{}, j:384] = sum(r:1536) A[i,r] * B[r,j]", rows), {"B"},
                     generic_target("x86-avx512"));
    return c.decided(
        {}, [&](Decider& decider) { return decide_product(decider, c.stage(0), vectors_j_rows_i()).sizes; });
  };
  const TileSizes wide = unroll(196), even = unroll(192);
  EXPECT_EQ(wide.rows * wide.vectors, 28);
  EXPECT_EQ(wide.reduce_unroll, 1);
  EXPECT_EQ(even.reduce_unroll, 2) << even.rows << " x " << even.vectors;
}

// A window that slides over the rows has taps; an image has another axis to tile.
TEST(ProductSizes, WhatIsAskedOfAWindow) {
  const RuleCase c("O[y:20, x:20, c:16] = sum(a:3, b:3) I[y + a, x + b, c] * W[a, b, c]", {"W"});
  const auto decide = [&](Decider& decider) { return decide_product(decider, c.stage(0), {2, 1}); };
  const std::vector<std::string> asked = c.asked(decide);
  for (const char* name : {"O.taps_inner", "O.others", "O.channels_inner"})
    EXPECT_THAT(asked, Contains(name));
  EXPECT_THAT(asked, Not(Contains("O.by_rows"))) << "the image is in the caches";
}

TEST(ProductSizes, TilesThatDoNotGoTogetherAreNamed) {
  EXPECT_EQ(violation(matmul(), {}), "");
  EXPECT_EQ(violation(matmul(), {{"C.rows", {14}}, {"C.vectors", {4}}}),
            "a register tile of 14 x 4 needs 61 vector registers of 16");
  EXPECT_EQ(violation(matmul(), {{"C.vectors", {3}}, {"C.rows", {1}}, {"C.panels", {2}}}),
            "blocks of 2 panels do not divide 3");
  const RuleCase window("O[x:64, c:16] = sum(a:30) I[x + a, c] * W[a, c]", {"W"});
  const auto decide = [&](Decider& decider) {
    decide_product(decider, window.stage(0), {1, 0});
    return decider.violation.has_value();
  };
  EXPECT_FALSE(window.decided({}, decide));
}

// All results of a place are written together, but panels that are more than rows and results are read once.
TEST(ProductSizes, PlacesAreOutsideOfPanelsThatAreLess) {
  const auto are_outside = [](int places, int channels, int results) {
    const RuleCase c(
        fmt::format("O[y:{0}, x:{0}, f:{2}] = sum(c:{1}) I[y,x,c] * W[c,f]", places, channels, results),
        {"W"}, generic_target("x86-avx512"));
    const auto decide = [&](Decider& decider) {
      return decide_product(decider, c.stage(0), {2, 1}).sizes.order & 1;
    };
    return c.decided({}, decide) == 1;
  };
  EXPECT_TRUE(are_outside(112, 16, 96));
  EXPECT_TRUE(are_outside(14, 112, 672));
  EXPECT_FALSE(are_outside(7, 160, 960));
  EXPECT_FALSE(are_outside(7, 1024, 2048));
}

TEST(ProductSizes, PlacesAreOutsideOfChannelsEachByItself) {
  const RuleCase c("O[y:14, x:14, c:576] = sum(a:3, b:3) I[y + a, x + b, c] * W[a, b, c]", {"W"},
                   generic_target("x86-avx512"));
  const auto decide = [&](Decider& decider) {
    return decide_product(decider, c.stage(0), {2, 1}).sizes.order & 1;
  };
  EXPECT_EQ(c.decided({}, decide), 1);
}

// Equal blocks of tiles, no more than there are.
TEST(ProductSizes, BlocksOfRowsAreOfAboutTheSameSize) {
  const RuleCase c = matmul(50);
  const auto decide = [&](Decider& decider) {
    return decide_product(decider, c.stage(0), vectors_j_rows_i());
  };
  const TileSizes sizes = c.decided({{"C.rows", {4}}, {"C.row_tiles", {8}}}, decide).sizes;
  EXPECT_EQ(sizes.row_tiles, 7) << "13 tiles in two blocks";
}

// What a group computes has as many rows as the group; what is asked does not depend on that.
TEST(ProductSizes, AGroupHasAPartOfTheRows) {
  const RuleCase c = matmul();
  const auto decide = [&](Decider& decider) {
    return decide_product(decider, c.stage(0), vectors_j_rows_i(), {0, 5, true});
  };
  const ProductDecision decision = c.decided({{"C.rows", {6}}, {"C.vectors", {1}}}, decide);
  EXPECT_EQ(decision.sizes.rows, 5);
  EXPECT_TRUE(decision.is_grouped);
}

}  // namespace
}  // namespace lathe::testing
