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
  EXPECT_EQ(text(DType::f32, identity_of(Reduction::max)), "-inf");
  EXPECT_EQ(text(DType::i8, identity_of(Reduction::product)), "i8(1)");
}

}  // namespace
}  // namespace lathe
