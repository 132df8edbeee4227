#include "base/half_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(HalfFloat, BitsStandForTheirNumbers) {
  EXPECT_EQ(value_of_half(kF16, 0x3c00), 1.0);
  EXPECT_EQ(value_of_half(kF16, 0xc500), -5.0);
  EXPECT_EQ(value_of_half(kF16, 0x7bff), 65504.0);
  EXPECT_EQ(value_of_half(kF16, 0x0400), std::ldexp(1, -14));
  EXPECT_EQ(value_of_half(kF16, 0x03ff), std::ldexp(1023, -24));
  EXPECT_EQ(value_of_half(kF16, 0x0001), std::ldexp(1, -24));
  EXPECT_EQ(value_of_half(kF16, 0xfc00), -kInfinity);
  EXPECT_TRUE(std::isnan(value_of_half(kF16, 0x7c01)));
  EXPECT_TRUE(std::signbit(value_of_half(kF16, 0x8000)));
  EXPECT_EQ(value_of_half(kBf16, 0x3fc0), 1.5);
  EXPECT_EQ(value_of_half(kBf16, 0x0001), std::ldexp(1, -133));
  EXPECT_EQ(value_of_half(kBf16, 0x7f80), kInfinity);
}

TEST(HalfFloat, EveryNumberComesBack) {
  for (const HalfFormat& format : {kF16, kBf16}) {
    for (int bits = 0; bits < 0x10000; ++bits) {
      const double value = value_of_half(format, static_cast<uint16_t>(bits));
      const uint16_t back = half_of_value(format, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(value_of_half(format, back))) << bits;
      } else {
        EXPECT_EQ(back, bits);
      }
    }
  }
}

TEST(HalfFloat, RoundsToTheNearestAndOfTwoToTheEven) {
  EXPECT_EQ(half_of_value(kF16, 1 + std::ldexp(1, -11)), 0x3c00);
  EXPECT_EQ(half_of_value(kF16, 1 + std::ldexp(3, -11)), 0x3c02);
  EXPECT_EQ(half_of_value(kF16, 1 + std::ldexp(1.001, -11)), 0x3c01);
  EXPECT_EQ(half_of_value(kF16, 65519), 0x7bff);
  EXPECT_EQ(half_of_value(kF16, 65520), 0x7c00);
  EXPECT_EQ(half_of_value(kF16, -1e300), 0xfc00);
  EXPECT_EQ(half_of_value(kF16, std::ldexp(1, -25)), 0x0000);
  EXPECT_EQ(half_of_value(kF16, std::ldexp(1.001, -25)), 0x0001);
  EXPECT_EQ(half_of_value(kF16, std::ldexp(1023.5, -24)), 0x0400);
  EXPECT_EQ(half_of_value(kBf16, 1 + std::ldexp(3, -8)), 0x3f82);
  EXPECT_EQ(half_of_value(kBf16, 3.4e38), 0x7f80);
}

}  // namespace
}  // namespace lathe
