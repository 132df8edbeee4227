// The floating-point numbers of 16 bits, f16 (IEEE 754) and bf16, to numbers and back. Pure functions.
#pragma once

#include <cstdint>

namespace lathe {

// A sign bit, then this many bits of the exponent, then of the fraction.
struct HalfFormat {
  int exponent_bits;
  int fraction_bits;
};

constexpr HalfFormat kF16{5, 10};
constexpr HalfFormat kBf16{8, 7};

// Exactly the number that the bits stand for.
double value_of_half(const HalfFormat& format, uint16_t bits);
// The nearest number of the format, of two as near the even one; what is too large becomes infinite.
uint16_t half_of_value(const HalfFormat& format, double value);

// A number of such a format as memory holds it.
template <HalfFormat format>
class HalfFloat {
 public:
  HalfFloat() = default;
  explicit HalfFloat(double value) : bits_(half_of_value(format, value)) {}
  operator double() const { return value_of_half(format, bits_); }  // NOLINT: exact

 private:
  uint16_t bits_ = 0;
};

using Float16 = HalfFloat<kF16>;
using BFloat16 = HalfFloat<kBf16>;

}  // namespace lathe
