// Which axes of a product of a window are maps, image, kernel and channels, and the tile around them.
#include "space/templates/window.h"

#include <gmock/gmock.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

// By name: image, kernel, the maps, channels if there are any, others.
std::vector<std::string> names_of_axes(const std::string& text) {
  const RuleCase one(text, {"W"});
  const Compute& compute = one.dag().computes.back();
  const auto axes = window_axes(compute, one.stages().stages.back());
  if (!axes) return {"none"};
  const auto joined = [&](const std::vector<size_t>& list) {
    std::string names;
    for (const size_t a : list) names += (names.empty() ? "" : " ") + compute.axes[a].var.name();
    return names;
  };
  return {joined(axes->image), joined(axes->kernel), joined({axes->maps}),
          axes->channels ? joined({*axes->channels}) : "", joined(axes->others)};
}

TEST(WindowAxes, FollowFromTheOperands) {
  EXPECT_THAT(
      names_of_axes("O[n:2, f:8, y:6, x:5] = sum(c:4, p:3, q:3) I[n, c, y + p, x + q] * W[f, c, p, q]"),
      ElementsAre("y x", "p q", "f", "c", "n"));
  // In another order, with strides and dilation, and a kernel that runs backwards.
  EXPECT_THAT(names_of_axes("O[t:6, g:8] = sum(k:3, e:4) W[e, g, 2 - k] * I[2*t + 3*k, e]"),
              ElementsAre("t", "k", "g", "e", ""));
}

TEST(WindowAxes, OfGroupsAndOfSingleChannels) {
  EXPECT_THAT(names_of_axes("O[f:8, x:5] = sum(c:4, q:3) I[c + 4*(f/4), x + q] * W[f, c, q]"),
              ElementsAre("x", "q", "f", "c", ""));
  EXPECT_THAT(names_of_axes("O[f:8, x:5] = sum(q:3) I[f, x + q] * W[f, q]"),
              ElementsAre("x", "q", "f", "", ""));
}

TEST(WindowAxes, OtherProductsHaveNone) {
  // No window; two axes of maps; an axis of the sum that the weights do not have.
  EXPECT_THAT(names_of_axes("C[i:8, j:8] = sum(r:8) I[i,r] * W[r,j]"), ElementsAre("none"));
  EXPECT_THAT(names_of_axes("O[f:8, g:2, x:5] = sum(c:4, q:3) I[c, x + q] * W[f, g, c, q]"),
              ElementsAre("none"));
  EXPECT_THAT(names_of_axes("O[f:8, x:5] = sum(c:4, q:3) I[c, x + q] * W[f, q]"), ElementsAre("none"));
}

// What is asked, and the tile, of the convolution above.
class WindowTileTest : public ::testing::Test {
 protected:
  WindowTile decided(const Choices& answers) {
    return one_.decided(answers, [&](Decider& decider) { return decide(decider); });
  }
  std::vector<std::string> asked() {
    return one_.asked([&](Decider& decider) { return decide(decider); });
  }

 private:
  WindowTile decide(Decider& decider) {
    const Stage& stage = one_.stages().stages.back();
    const WindowAxes axes = *window_axes(decider.compute(stage), stage);
    return decide_window_tile(decider, decider.choose, stage, axes);
  }

  RuleCase one_{"O[n:2, f:32, y:6, x:28] = sum(c:4, p:3, q:1) I[n, c, y + p, x + q] * W[f, c, p, q]", {"W"}};
};

TEST_F(WindowTileTest, AsksForSplitsOrderAndAnnotations) {
  // A loop of one tap is not unrolled.
  EXPECT_THAT(asked(), ElementsAre("O.split.y", "O.split.x", "O.split.f", "O.split.c", "O.order",
                                   "O.annotate.inner", "O.annotate.outer", "O.annotate.p"));
}

std::vector<std::string> loops_of(const WindowTile& tile) {
  std::vector<std::string> names = names_of(tile.tiling.tiles);
  names.emplace_back("|");
  for (const SumLoop& sum : tile.tiling.sums) names.push_back(sum.loop);
  names.emplace_back("|");
  for (const TileLoop& loop : tile.tiling.tile) names.push_back(loop.loop);
  return names;
}

TEST_F(WindowTileTest, ItsLoopsHaveTheMapsOrTheImageInnermost) {
  const WindowTile maps = decided({});
  EXPECT_THAT(loops_of(maps),
              ElementsAre("n", "f.0", "y.0", "x.0", "|", "c.0", "p", "q", "c.1", "|", "y.1", "x.1", "f.1"));
  EXPECT_TRUE(maps.maps_are_innermost);
  const WindowTile image = decided({{"O.order", {1}}});
  EXPECT_THAT(loops_of(image),
              ElementsAre("n", "f.0", "y.0", "x.0", "|", "c.0", "p", "q", "c.1", "|", "f.1", "y.1", "x.1"));
}

// Eight lanes: four vectors of maps; of 28 places of a row four vectors of seven.
TEST_F(WindowTileTest, VectorsDivideTheInnermostLoop) {
  const WindowTile maps = decided({{"O.split.f", {32}}, {"O.annotate.inner", {2}}});
  EXPECT_EQ(maps.tiling.tile.back().lanes, 8);
  EXPECT_EQ(maps.tiling.tile.back().vectors(), 4);
  const WindowTile image = decided({{"O.split.x", {28}}, {"O.order", {1}}, {"O.annotate.inner", {2}}});
  EXPECT_EQ(image.tiling.tile.back().lanes, 7);
  EXPECT_EQ(image.tiling.tile.back().vectors(), 4);
}

TEST_F(WindowTileTest, RegistersHoldTilesThatAreWrittenOutWhole) {
  const Choices whole = {
      {"O.split.f", {16}}, {"O.split.x", {7}}, {"O.annotate.inner", {2}}, {"O.annotate.outer", {1}}};
  EXPECT_EQ(decided(whole).tiling.scope, Scope::registers);
  Choices looped = whole;
  looped["O.annotate.outer"] = {0};
  EXPECT_EQ(decided(looped).tiling.scope, Scope::thread);
  Choices large = whole;
  large["O.split.x"] = {28};
  large["O.split.y"] = {6};
  EXPECT_EQ(decided(large).tiling.scope, Scope::thread);
}

}  // namespace
}  // namespace lathe::testing
