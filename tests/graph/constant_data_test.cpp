// The bytes of constants: what they are, and what numbers become that a type does not hold.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "graph/graph.h"

namespace lathe {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What a constant of the type holds after these values were put into it.
std::vector<double> held(DType dtype, const std::vector<double>& values) {
  return values_of({"c", {dtype, {static_cast<int64_t>(values.size())}}, to_bytes(dtype, values)});
}

std::vector<int> bytes_of_value(DType dtype, double value) {
  const std::shared_ptr<const Bytes> data = to_bytes(dtype, std::vector<double>{value});
  std::vector<int> bytes;
  for (const std::byte byte : *data) bytes.push_back(std::to_integer<int>(byte));
  return bytes;
}

TEST(ConstantData, LiesInMemoryWithTheLowestByteFirst) {
  EXPECT_EQ(bytes_of_value(DType::i8, -2), (std::vector<int>{0xfe}));
  EXPECT_EQ(bytes_of_value(DType::u16, 0x1234), (std::vector<int>{0x34, 0x12}));
  EXPECT_EQ(bytes_of_value(DType::i32, 0x01020304), (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(bytes_of_value(DType::i64, -256), (std::vector<int>{0, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(bytes_of_value(DType::f16, 1), (std::vector<int>{0x00, 0x3c}));
  EXPECT_EQ(bytes_of_value(DType::bf16, 1), (std::vector<int>{0x80, 0x3f}));
  EXPECT_EQ(bytes_of_value(DType::f32, -2), (std::vector<int>{0, 0, 0, 0xc0}));
  EXPECT_EQ(bytes_of_value(DType::f64, 1), (std::vector<int>{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
}

TEST(ConstantData, IntegersAreCutOffAndSaturate) {
  const std::vector<double> values{2.9, -2.9, 1e30, -1e30, kInfinity, -kInfinity, kNan};
  EXPECT_EQ(held(DType::i8, values), (std::vector<double>{2, -2, 127, -128, 127, -128, 0}));
  EXPECT_EQ(held(DType::u8, values), (std::vector<double>{2, 0, 255, 0, 255, 0, 0}));
  EXPECT_EQ(held(DType::i16, values), (std::vector<double>{2, -2, 32767, -32768, 32767, -32768, 0}));
  EXPECT_EQ(held(DType::u16, values), (std::vector<double>{2, 0, 65535, 0, 65535, 0, 0}));
  EXPECT_EQ(held(DType::i32, {2147483646.5, 2147483648.0, -2147483649.0}),
            (std::vector<double>{2147483646, 2147483647, -2147483648.0}));
}

// As a double the largest integer of 64 bits is 2^63; the bytes tell it from its neighbours.
TEST(ConstantData, IntegersOf64BitsSaturateToo) {
  const auto most = bytes_of_value(DType::i64, 0x1p63);
  EXPECT_EQ(most, (std::vector<int>{255, 255, 255, 255, 255, 255, 255, 127}));
  EXPECT_EQ(bytes_of_value(DType::i64, kInfinity), most);
  EXPECT_EQ(bytes_of_value(DType::i64, -0x1p63), (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 128}));
  EXPECT_EQ(bytes_of_value(DType::i64, -1e300), (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 128}));
  EXPECT_EQ(held(DType::i64, {kNan, 0x1p53}), (std::vector<double>{0, 0x1p53}));
}

TEST(ConstantData, FloatsAreRoundedToTheNearest) {
  EXPECT_EQ(held(DType::f32, {16777217, 0.1, 1e39}),
            (std::vector<double>{16777216, static_cast<double>(0.1F), kInfinity}));
  // Of 11 digits and of 8, ties to the even one.
  EXPECT_EQ(held(DType::f16, {2049, 2051, 65504, 1e6, 0x1p-24}),
            (std::vector<double>{2048, 2052, 65504, kInfinity, 0x1p-24}));
  EXPECT_EQ(held(DType::bf16, {257, 259, 1e6}), (std::vector<double>{256, 260, 999424}));
  EXPECT_EQ(held(DType::f64, {0.1, -1e300}), (std::vector<double>{0.1, -1e300}));
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    EXPECT_TRUE(std::isnan(held(dtype, {kNan})[0])) << to_string(dtype);
    EXPECT_TRUE(std::signbit(held(dtype, {-0.0})[0])) << to_string(dtype);
  }
}

TEST(ConstantData, ReadsBackWhatTheTypeStores) {
  Rng rng(5);
  for (const DTypeInfo& info : kDTypes) {
    if (info.kind == NumberKind::boolean) continue;
    std::vector<double> values, expected;
    const bool is_signed = !is_unsigned(info.dtype);
    for (int i = 0; i < 200; ++i) {
      const double value = rng.uniform() * 120 - (is_signed ? 60 : 0);
      values.push_back(value);
      expected.push_back(as_stored(info.dtype, value));
    }
    EXPECT_EQ(held(info.dtype, values), expected) << info.name;
  }
}

TEST(ConstantData, OfNothingIsNothing) {
  for (const DTypeInfo& info : kDTypes) {
    EXPECT_TRUE(to_bytes(info.dtype, {})->empty()) << info.name;
    EXPECT_TRUE(held(info.dtype, {}).empty()) << info.name;
  }
}

}  // namespace
}  // namespace lathe
