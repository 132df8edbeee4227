#include "space/rules/product/tile_candidates.h"

#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

std::vector<std::string> tiles(const RuleCase& c) {
  const Compute& compute = c.dag().computes[0];
  std::vector<std::string> names;
  for (const TileAxes& tile : tile_candidates(c.analysis().task, compute, c.stage(0))) {
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

}  // namespace
}  // namespace lathe::testing
