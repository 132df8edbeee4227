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

}  // namespace lathe
