// u8 times i8, four together: exact where VPMADDUBSW would saturate, and wrapping around.
#include <gtest/gtest.h>

#include "intrinsics/all.h"
#include "intrinsics/block_checker.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

TEST(Dot4U8I8, IsExactInEveryForm) {
  const FactorValues values{{255, 0, 1, 128, 127, 255}, {-128, 127, -1, 0, 1, 127, -128}};
  for (const int lanes : {1, 3, 4, 8, 16, 32})
    run_block(dot4_u8_i8(), machine_with(dot4_u8_i8()), lanes, 5, values);
}

// 255 * -128 four times, 16,500 times over, lies below -2^31.
TEST(Dot4U8I8, WrapsAround) {
  const std::vector<double> sums =
      run_block(dot4_u8_i8(), machine_with(dot4_u8_i8()), 16, 16500, {{255}, {-128}});
  EXPECT_EQ(sums.front(), 4294967296.0 - 255.0 * 128 * 4 * 16500);
}

TEST(Dot4U8I8, IsOfMachinesWithVnni) {
  const Target plain = generic_target("x86-avx512");
  EXPECT_FALSE(has_intrinsic(plain, dot4_u8_i8()));
  EXPECT_TRUE(has_intrinsic(with_extensions(plain, {"avx512_vnni"}), dot4_u8_i8()));
  EXPECT_FALSE(has_intrinsic(with_extensions(generic_target("x86-avx2"), {"avx512_vnni"}), dot4_u8_i8()));
  EXPECT_TRUE(has_intrinsic(with_extensions(generic_target("x86-avx2"), {"avx_vnni"}), dot4_u8_i8()));
}

}  // namespace
}  // namespace lathe::testing
