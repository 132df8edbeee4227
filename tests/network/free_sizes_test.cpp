// Which sizes kernels are made for.
#include "network/free_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;
using Sizes = std::vector<int64_t>;

TEST(FreeSizes, OfCountedSizesStepsAreHalfAsLongInTheUpperHalf) {
  EXPECT_EQ(sizes_compiled({"n", 1, 512, SizedBy::count}),
            (Sizes{4,   8,   12,  16,  20,  24,  28,  32,  40,  48,  56,  64,  80,  96,
                   112, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512}));
  EXPECT_THAT(sizes_compiled({"n", 100, 150, SizedBy::count}), ElementsAre(104, 112, 120, 128, 144, 150));
}

// What is computed for nothing is a fifth at most, an eighth in the upper half.
TEST(FreeSizes, NoCountedSizeIsFarBelowTheNext) {
  for (const int64_t most : {37, 100, 300, 512, 1000}) {
    int64_t last = 16;
    for (const int64_t size : sizes_compiled({"n", 1, most, SizedBy::count})) {
      const double waste = static_cast<double>(size - (last + 1)) / static_cast<double>(size);
      const double bound = size <= 16 ? 1 : 2 * last >= most && last >= 32 ? 0.125 : 0.2;
      EXPECT_LE(waste, bound) << size << " of " << most;
      last = size;
    }
    EXPECT_EQ(last, most);
  }
}

TEST(FreeSizes, PartsHavePowersOfTwoAndExactSizesAll) {
  EXPECT_THAT(sizes_compiled({"n", 1, 12, SizedBy::parts}), ElementsAre(1, 2, 4, 8, 12));
  EXPECT_THAT(sizes_compiled({"n", 3, 6, SizedBy::exact}), ElementsAre(3, 4, 5, 6));
}

TEST(FreeSizes, TooManyCombinationsLeaveEverySecondSizeOut) {
  const FreeDimension dimension{"n", 1, 512, SizedBy::count};
  const auto sizes = sizes_compiled({dimension, dimension}, 100);
  EXPECT_LE(sizes[0].size() * sizes[1].size(), 100U);
  EXPECT_EQ(sizes[0].back(), 512);
  EXPECT_EQ(sizes[1].back(), 512);
}

}  // namespace
}  // namespace lathe
