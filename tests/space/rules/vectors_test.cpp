#include "space/rules/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

TEST(Vectors, NoneReachesBeyondTheEnd) {
  for (int64_t extent = 1; extent < 200; ++extent) {
    for (const int64_t wanted : {1, 2, 4, 8}) {
      const VectorTile tile = vector_tile(extent, 8, wanted);
      EXPECT_LE(tile.size(), extent);
      EXPECT_GE(tile.vectors, 1);
      EXPECT_LE(tile.vectors, wanted);
      // Single vectors that leave no rest are not given up for tiles that do.
      EXPECT_TRUE(extent % tile.lanes != 0 || extent % tile.size() == 0) << extent << " " << wanted;
    }
  }
  EXPECT_EQ(vector_tile(5, 8, 4).lanes, 4);
  EXPECT_EQ(vector_tile(24, 8, 2).vectors, 1) << "two would leave a rest of one";
}

TEST(Vectors, TheLargestDivisorIsNoMoreThanAskedFor) {
  EXPECT_EQ(largest_divisor(64, 8), 8);
  EXPECT_EQ(largest_divisor(28, 8), 7);
  EXPECT_EQ(largest_divisor(3, 8), 3);
  EXPECT_EQ(largest_divisor(29, 16), 1);
  EXPECT_EQ(largest_divisor(29, 0), 1) << "where no room is left";
}

TEST(Vectors, PreferredTilesPayForTheirLoops) {
  const RuleCase c("O[i:8] = A[i]");
  EXPECT_EQ(preferred_vectors(c.analysis(), 1), 1);
  EXPECT_EQ(preferred_vectors(c.analysis(), 8), 1);
  EXPECT_EQ(preferred_vectors(c.analysis(), 1024), 4);
  EXPECT_EQ(preferred_vectors(c.analysis(), 16), 2);
}

// Of the longest axis, whichever lies innermost later.
TEST(Vectors, CountsAreThoseOfTheLongestAxis) {
  const auto counts = [](const char* text) {
    const RuleCase c(text);
    return vector_counts(c.analysis(), c.dag().computes[0]);
  };
  EXPECT_THAT(counts("O[i:8, j:4] = A[i,j]"), ElementsAre(1));
  EXPECT_THAT(counts("O[i:30, j:4] = A[i,j]"), ElementsAre(1, 2, 4));
  EXPECT_THAT(counts("O[i:3, j:4000] = A[i,j]"), ElementsAre(1, 2, 4, 8));
}

// A sum of twenty powers keeps the processor busy by itself, and eight vectors of it are code for seconds.
TEST(Vectors, ALongBodyNeedsFew) {
  const auto counts = [](int powers, double long_body) {
    std::string text = "O[i:4000] = 1.0";
    for (int i = 0; i < powers; ++i) text += " + pow(A[i], B[i] + " + std::to_string(i) + ".5)";
    const RuleCase c(text);
    CostConstants costs;
    costs.long_body = long_body;
    return vector_counts({c.task(), c.dag(), c.stages(), costs}, c.dag().computes[0]);
  };
  const double usual = CostConstants{}.long_body;
  EXPECT_THAT(counts(0, usual), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(counts(3, usual), ElementsAre(1, 2));
  EXPECT_THAT(counts(20, usual), ElementsAre(1));
  EXPECT_THAT(counts(20, kNoLimit), ElementsAre(1, 2, 4, 8));
}

TEST(Vectors, SizesOfParts) {
  EXPECT_THAT(sizes_of_parts(1), ElementsAre(1));
  EXPECT_THAT(sizes_of_parts(12), ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_EQ(sizes_of_parts(1000).back(), 1000);
  EXPECT_GE(sizes_of_parts(1000).front(), 15) << "64 parts at the most";
  EXPECT_THAT(powers_of_two(20), ElementsAre(1, 2, 4, 8, 16));
}

}  // namespace
}  // namespace lathe::testing
