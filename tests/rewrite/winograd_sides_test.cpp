// How windows are cut in parts and tiles, and which tiles are worth a try.
#include "rewrite/winograd_sides.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "rewrite/winograd.h"

namespace lathe {
namespace {

Dag convolution_of(int64_t features, int64_t channels, int64_t places, int64_t taps) {
  return parse_dag(fmt::format("O[f:{}, y:{}] = sum(c:{}, p:{}) X[c, y + p] * W[f, c, p]", features, places,
                               channels, taps))
      .value();
}

Side side_of(int64_t places, int64_t taps) {
  const Dag dag = convolution_of(2, 2, places, taps);
  const auto product = match_sliding_product(dag.computes[0]);
  EXPECT_TRUE(product);
  const std::vector<Side> sides = winograd_sides(dag.computes[0], *product);
  EXPECT_EQ(sides.size(), 1U);
  return sides.at(0);
}

TEST(WinogradSides, CutLongWindowsInEqualParts) {
  const auto parts = [](int64_t taps) {
    const Side side = side_of(8, taps);
    EXPECT_FALSE(side.is_tiled());
    EXPECT_EQ(side.extent, 8);
    return fmt::format("{} x {}", side.parts, side.taps);
  };
  EXPECT_EQ(parts(2), "1 x 2");
  EXPECT_EQ(parts(5), "1 x 5");
  EXPECT_EQ(parts(6), "2 x 3");
  EXPECT_EQ(parts(7), "1 x 7");
  EXPECT_EQ(parts(8), "2 x 4");
  EXPECT_EQ(parts(9), "3 x 3");
  EXPECT_EQ(parts(10), "2 x 5");
  EXPECT_EQ(parts(11), "1 x 11");
  EXPECT_EQ(parts(14), "7 x 2");
}

TEST(WinogradSides, TilesCoverTheOutput) {
  Side side = side_of(10, 3);
  side.m = 4;
  EXPECT_TRUE(side.is_tiled());
  EXPECT_FALSE(side.is_parted());
  EXPECT_EQ(side.points(), 6);
  EXPECT_EQ(side.tiles(), 3);
  EXPECT_EQ(side.phases(), 1);
  EXPECT_EQ(side.largest_tile(), 10);
  EXPECT_EQ(side.starts(), 3);
}

// Of a dilated window the outputs of a tile lie a dilation apart.
TEST(WinogradSides, PhasesOfADilationHaveTilesOfTheirOwn) {
  Side side = side_of(10, 3);
  side.window.dilation = 3;
  side.m = 2;
  EXPECT_EQ(side.phases(), 3);
  EXPECT_EQ(side.tile_span(), 6);
  EXPECT_EQ(side.tiles(), 2);
  EXPECT_EQ(side.largest_tile(), 4);
  side.window.dilation = 30;
  EXPECT_EQ(side.phases(), 10);
  EXPECT_EQ(side.largest_tile(), 2);
  EXPECT_EQ(side.tiles(), 1);
}

// Where tiles and parts begin, counted by hand.
TEST(WinogradSides, StartsAreThoseOfTilesAndParts) {
  for (const int64_t taps : {6, 8, 9, 10}) {
    for (int64_t m = 2; m <= 6; ++m) {
      Side side = side_of(13, taps);
      side.m = m;
      int64_t last = 0;
      for (int64_t tile = 0; tile < side.tiles(); ++tile)
        for (int64_t part = 0; part < side.parts; ++part) {
          const int64_t start = tile * m + part * side.taps;
          EXPECT_EQ(start % side.step(), 0) << taps << " " << m;
          last = std::max(last, start);
        }
      EXPECT_EQ(side.starts(), last / side.step() + 1) << taps << " " << m;
    }
  }
}

TEST(WinogradSides, TransformsMustBeShared) {
  const auto reuse = [](int64_t features, int64_t channels) {
    const Dag dag = convolution_of(features, channels, 8, 3);
    const Status status = check_winograd_reuse("O", dag.computes[0], *match_sliding_product(dag.computes[0]));
    return status ? "shared" : status.error().message;
  };
  EXPECT_EQ(reuse(2, 2), "shared");
  EXPECT_EQ(reuse(1, 2), "winograd does not apply to 'O': each of its windows gives one result alone");
  EXPECT_EQ(reuse(2, 1), "winograd does not apply to 'O': it adds up one channel alone");
  EXPECT_EQ(refuse_winograd("O", "no").error().kind, ErrorKind::illegal_schedule);
}

TEST(WinogradChoices, TheMostExactOneIsFirstAndAllApply) {
  for (const auto& [places, taps] : {std::pair<int64_t, int64_t>{12, 3}, {12, 5}, {3, 3}, {9, 6}}) {
    const Dag dag = convolution_of(16, 16, places, taps);
    const std::vector<RewriteParameters> choices = winograd_choices(dag, "O");
    ASSERT_FALSE(choices.empty());
    EXPECT_EQ(choices.front().at("m"), 2);
    for (const RewriteParameters& choice : choices) {
      EXPECT_TRUE(rewrite_winograd(dag, "O", choice)) << places << " " << taps;
      EXPECT_LE(choice.at("m"), std::max<int64_t>(2, std::min<int64_t>(6, places)));
    }
  }
}

TEST(WinogradChoices, SidesOfTwoWindowsMayDiffer) {
  const Dag dag =
      parse_dag("O[f:16, y:12, x:2] = sum(c:16, p:3, q:3) X[c, y + p, x + q] * W[f, c, p, q]").value();
  size_t unequal = 0;
  for (const RewriteParameters& choice : winograd_choices(dag, "O")) {
    EXPECT_TRUE(rewrite_winograd(dag, "O", choice));
    if (choice.contains("m")) continue;
    ++unequal;
    EXPECT_NE(choice.at("m0"), choice.at("m1"));
    EXPECT_LE(choice.at("m1"), 2);
  }
  EXPECT_GE(unequal, 1U);
  EXPECT_LE(unequal, 3U);
}

TEST(WinogradChoices, AreNoneWhereNothingIsSaved) {
  EXPECT_TRUE(winograd_choices(convolution_of(1, 8, 8, 3), "O").empty());
  EXPECT_TRUE(winograd_choices(convolution_of(8, 1, 8, 3), "O").empty());
  EXPECT_TRUE(winograd_choices(convolution_of(8, 8, 8, 3), "P").empty());
  EXPECT_TRUE(winograd_choices(parse_dag("C[i:4, j:5] = sum(r:3) A[i, r] * B[r, j]").value(), "C").empty());
  // Every second place of what slides is 0: phases have less to do.
  const Dag spread = parse_dag(
                         "E[c:8, k:21] = select(k%2 == 0, X[c, k/2], 0.0)\n"
                         "O[f:8, y:19] = sum(c:8, p:3) E[c, y + p] * W[f, c, p]")
                         .value();
  EXPECT_TRUE(winograd_choices(spread, "O").empty());
}

}  // namespace
}  // namespace lathe
