#include "expr/integers.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "expr/dag.h"
#include "expr/print.h"

namespace lathe {
namespace {

TEST(Integers, TheirTypesEnds) {
  EXPECT_EQ(integers_of(DType::boolean), (Interval{0, 1}));
  EXPECT_EQ(integers_of(DType::i8), (Interval{-128, 127}));
  EXPECT_EQ(integers_of(DType::u8), (Interval{0, 255}));
  EXPECT_EQ(integers_of(DType::i16), (Interval{-32768, 32767}));
  EXPECT_EQ(integers_of(DType::u16), (Interval{0, 65535}));
  EXPECT_EQ(integers_of(DType::i32), (Interval{-2147483648, 2147483647}));
  EXPECT_EQ(integers_of(DType::i64), (Interval{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(integers_of(DType::u32), (Interval{0, 4294967295}));
  EXPECT_EQ(integers_of(DType::u64), (Interval{0, INT64_MAX})) << "as far as an i64 holds them";
  EXPECT_EQ(largest_kept(DType::u64), -1);
  EXPECT_EQ(largest_kept(DType::u32), 4294967295);
  EXPECT_THROW(integers_of(DType::f32), InternalError);
}

TEST(Integers, WrapAround) {
  EXPECT_EQ(wrap_to(DType::boolean, 256), 1);
  EXPECT_EQ(wrap_to(DType::i8, 200), -56);
  EXPECT_EQ(wrap_to(DType::u8, -1), 255);
  EXPECT_EQ(wrap_to(DType::u8, 256), 0);
  EXPECT_EQ(wrap_to(DType::i16, 40000), -25536);
  EXPECT_EQ(wrap_to(DType::u16, -2), 65534);
  EXPECT_EQ(wrap_to(DType::i32, (int64_t{1} << 32) + 5), 5);
  EXPECT_EQ(wrap_to(DType::i64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(wrap_to(DType::u32, -1), 4294967295);
  EXPECT_EQ(wrap_to(DType::u64, -1), -1);
}

TEST(Integers, ThoseOf64BitsWithoutASignAreKeptByTheirBits) {
  EXPECT_EQ(number_kept(DType::u64, -1), 0x1p64);
  EXPECT_EQ(number_kept(DType::u64, INT64_MIN), 0x1p63);
  EXPECT_EQ(number_kept(DType::i64, INT64_MIN), -0x1p63);
  EXPECT_EQ(number_kept(DType::u32, 4294967295), 4294967295.0);
}

// What reductions of integers start from has no infinity.
TEST(Integers, LiteralsAreElementsOfTheirType) {
  const auto text = [](DType dtype, double value) { return to_string(literal({dtype, 1}, value)); };
  EXPECT_EQ(text(DType::i8, identity_of(Reduction::max)), "i8(-128)");
  EXPECT_EQ(text(DType::i32, identity_of(Reduction::max)), "i32(-2147483648)");
  EXPECT_EQ(text(DType::i32, identity_of(Reduction::min)), "i32(2147483647)");
  EXPECT_EQ(text(DType::i64, identity_of(Reduction::max)), "-9223372036854775808");
  EXPECT_EQ(text(DType::i64, identity_of(Reduction::min)), "9223372036854775807");
  EXPECT_EQ(text(DType::i8, 200), "i8(-56)");
  EXPECT_EQ(text(DType::u64, identity_of(Reduction::min)), "u64(-1)");
  EXPECT_EQ(text(DType::u64, identity_of(Reduction::max)), "u64(0)");
  EXPECT_EQ(text(DType::u32, -1), "u32(4294967295)");
  EXPECT_EQ(text(DType::f32, identity_of(Reduction::max)), "-inf");
  EXPECT_EQ(text(DType::i8, identity_of(Reduction::product)), "i8(1)");
}

}  // namespace
}  // namespace lathe
