// bf16 times bf16, two together, within the bound of docs/numerics.md.
#include <gtest/gtest.h>

#include "intrinsics/all.h"
#include "intrinsics/block_checker.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

TEST(Dot2Bf16, RoundsEachProductOnce) {
  const FactorValues values{{1.5, -0.25, 3, 0.0078125, -2}, {-1.25, 4, 0.5, 100, 0.3125, 7, -8}};
  for (const int lanes : {1, 3, 4, 8, 16}) {
    // 2 * 20 roundings to 24 bits of sums below 1,000 * 20.
    run_block(dot2_bf16(), machine_with(dot2_bf16()), lanes, 20, values, 40 * 20000 * 0x1p-24);
  }
}

// Sums that f32 holds are exact.
TEST(Dot2Bf16, IsExactOfSmallWholeNumbers) {
  run_block(dot2_bf16(), machine_with(dot2_bf16()), 16, 50, {{1, -2, 3, 0, 5}, {7, -6, 128, 2}});
}

// Subnormal factors and results may count as 0: what is lost of a term is no more than 2^-126 times the
// larger of the other factor and 1.
TEST(Dot2Bf16, MayFlushSubnormals) {
  run_block(dot2_bf16(), machine_with(dot2_bf16()), 16, 2, {{0x1p-130, 0x1p-127}, {1, 2, 0.5}},
            4 * 2 * 0x1p-126);
  run_block(dot2_bf16(), machine_with(dot2_bf16()), 16, 2, {{0x1p-70}, {0x1p-70, 0x1p-60}}, 4 * 0x1p-126);
}

TEST(Dot2Bf16, IsOfMachinesWithBf16) {
  const Target plain = generic_target("x86-avx512");
  EXPECT_FALSE(has_intrinsic(plain, dot2_bf16()));
  EXPECT_TRUE(has_intrinsic(with_extensions(plain, {"avx512_bf16"}), dot2_bf16()));
}

}  // namespace
}  // namespace lathe::testing
