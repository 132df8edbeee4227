#include "space/rules/product/tile_candidates.h"

#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

std::vector<std::string> tiles(const RuleCase& c) {
  const Compute& compute = c.dag().computes[0];
  std::vector<std::string> names;
  for (const TileAxes& tile : tile_candidates(c.analysis().task, c.dag(), compute, c.stage(0))) {
    names.push_back(compute.axes[tile.vector].var.name());
    if (tile.rows) names.back() += "/" + compute.axes[*tile.rows].var.name();
  }
  return names;
}

using Names = std::vector<std::string>;

// Panels of a constant are packed beforehand.
TEST(TileCandidates, VectorsRunAlongWhatIsPacked) {
  EXPECT_EQ(tiles(RuleCase("C[i:64, j:64] = sum(r:32) A[i,r] * B[r,j]", {"B"})), (Names{"j/i", "i/j"}));
  EXPECT_EQ(tiles(RuleCase("C[i:64, j:64] = sum(r:32) A[i,r] * B[r,j]", {"A"})), (Names{"i/j", "j/i"}));
}

TEST(TileCandidates, AMatrixTimesAVectorHasNoRows) {
  EXPECT_EQ(tiles(RuleCase("y[i:64] = sum(r:32) A[i,r] * x[r]", {"A"})), (Names{"i"}));
}

// An axis of one place fills no vector, and gives no rows.
TEST(TileCandidates, SinglePlacesAreLeftOut) {
  EXPECT_EQ(tiles(RuleCase("C[i:1, j:64] = sum(r:32) A[i,r] * B[r,j]", {"B"})), (Names{"j"}));
}

// Nine results cannot keep the units busy: vectors may run along the sum.
TEST(TileCandidates, ALongSumOfFewResultsMayRunAlongItself) {
  EXPECT_EQ(tiles(RuleCase("C[i:3, j:3] = sum(r:100000) A[i,r] * B[r,j]", {"B"})),
            (Names{"j/i", "r", "i/j"}));
  EXPECT_EQ(tiles(RuleCase("C[i:3, j:3] = sum(r:100) A[i,r] * B[r,j]", {"B"})), (Names{"j/i", "i/j"}));
}

// The rows of an image under a window share vectors of channels.
TEST(TileCandidates, AWindowSlidesOverVectors) {
  const RuleCase c("O[y:20, x:20, c:16] = sum(a:3, b:3) I[y + a, x + b, c] * W[a, b, c]", {"W"});
  const Operand& image = c.stage(0).operands[0];
  EXPECT_EQ(window_over_vectors(c.dag().computes[0], image, /*vector=*/2, /*rows=*/1), 4u);
  EXPECT_EQ(window_over_vectors(c.dag().computes[0], image, /*vector=*/2, /*rows=*/0), 3u);
  EXPECT_EQ(tiles(c).front(), "c/x");
}

// Of a grouped convolution the image's rows lie apart where a caller gives its channels innermost, also
// behind the padding that is inlined.
TEST(TileCandidates, WhatIsPaddedLiesAsItsSourceDoes) {
  RuleCase c(
      "P[y:30, x:30, c:8] = select(1 <= x && x < 29, I[y, x - 1, c], 0.0)\n"
      "O[f:8, y:28, x:28] = sum(c:8, a:3) P[y, x + a, c] * W[f, c, a]",
      {"W"});
  const Load& load = *c.stage(1).operands[0].load;
  const auto lies = [&](int dim) { return lie_side_by_side(c.task(), c.dag(), load, dim); };
  EXPECT_TRUE(lies(1)) << "any layout may be chosen";
  for (Argument& argument : c.task().arguments) argument.layout_is_free = false;
  EXPECT_FALSE(lies(1));
  EXPECT_TRUE(lies(2));
  EXPECT_FALSE(lies(-1));
}

// All places of an image in one row, as im2col has them: beside the last of a line lies the first of the next
// one, whatever the layout.
TEST(TileCandidates, LinesBehindEachOtherAreNoNeighbours) {
  const RuleCase c(
      "V[c:3, a:3, p:81] = I[c, p / 9 + a, p % 9]\n"
      "O[f:8, p:81] = sum(c:3, a:3) V[c, a, p] * W[f, c, a]",
      {"W"});
  const Load& load = *c.stage(1).operands[0].load;
  EXPECT_FALSE(lie_side_by_side(c.task(), c.dag(), load, 2));
  EXPECT_TRUE(lie_side_by_side(c.task(), c.dag(), load, 0)) << "channels may be innermost";
}

TEST(TileCandidates, WhatIsTransformedLiesAsItsSourceDoes) {
  RuleCase c(
      "table T[4, 4] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1}\n"
      "V[e:4, z:7, c:8] = sum(a:4) T[e, a] * I[4*z + a, c]\n"
      "O[e:4, z:7, f:8] = sum(c:8) V[e, z, c] * W[e, c, f]",
      {"W"});
  for (Argument& argument : c.task().arguments) argument.layout_is_free = false;
  const Load& load = *c.stage(1).operands[0].load;
  EXPECT_TRUE(lie_side_by_side(c.task(), c.dag(), load, 2));
  EXPECT_FALSE(lie_side_by_side(c.task(), c.dag(), load, 1)) << "every fourth";
}

double stores(const RuleCase& c, size_t vector) {
  return scattered_stores(c.task(), c.dag(), c.dag().computes[0], c.stage(0), {vector, 1 - vector});
}

// Of a short sum storing takes longer than adding up.
TEST(TileCandidates, ResultsThatLieApartAreStoredOneByOne) {
  RuleCase c("C[i:64, j:64] = sum(r:4) A[i,r] * B[r,j]");
  EXPECT_EQ(stores(c, 0), 0) << "any layout may be chosen";
  for (Argument& argument : c.task().arguments) argument.layout_is_free = false;
  EXPECT_EQ(stores(c, 0), 7.0 / 4);
  EXPECT_EQ(stores(c, 1), 0);
  EXPECT_EQ(tiles(c), (Names{"j/i", "i/j"}));
}

TEST(TileCandidates, ResultsLieAsTheirEpilogueDoes) {
  RuleCase c("C[i:64, j:64] = sum(r:7) A[i,r] * B[r,j]\nD[j:64, i:64] = exp(C[i,j])", {"B"});
  ASSERT_TRUE(c.stage(0).epilogue);
  for (Argument& argument : c.task().arguments) argument.layout_is_free = false;
  EXPECT_EQ(stores(c, 0), 0);
  EXPECT_EQ(stores(c, 1), 1);
}

TEST(TileCandidates, StoresOfWhatHasWindowsAreNotCounted) {
  RuleCase c("O[f:64, x:64] = sum(c:4, a:3) I[c, x + a] * W[f, c, a]", {"W"});
  for (Argument& argument : c.task().arguments) argument.layout_is_free = false;
  EXPECT_EQ(stores(c, 0), 0);
}

}  // namespace
}  // namespace lathe::testing
