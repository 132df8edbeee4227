#include "base/half_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe {

namespace {

// The exponent of the least normal number; subnormal ones share its step.
int least_exponent(const HalfFormat& format) { return 2 - (1 << (format.exponent_bits - 1)); }

// The bits of infinity: an exponent of ones and no fraction.
int bits_of_infinity(const HalfFormat& format) {
  return ((1 << format.exponent_bits) - 1) << format.fraction_bits;
}

}  // namespace

double value_of_half(const HalfFormat& format, uint16_t bits) {
  const int magnitude = bits & 0x7fff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int infinity = bits_of_infinity(format);
  if (magnitude > infinity) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == infinity) return sign * std::numeric_limits<double>::infinity();
  const int exponent = magnitude >> format.fraction_bits;
  const int fraction = magnitude & ((1 << format.fraction_bits) - 1);
  const int steps = exponent == 0 ? fraction : fraction + (1 << format.fraction_bits);
  const int step = least_exponent(format) - format.fraction_bits + std::max(exponent - 1, 0);
  return sign * std::ldexp(steps, step);
}

uint16_t half_of_value(const HalfFormat& format, double value) {
  const int infinity = bits_of_infinity(format);
  const int sign = std::signbit(value) ? 0x8000 : 0;
  int magnitude = infinity;
  if (std::isnan(value)) {
    magnitude = infinity + (1 << (format.fraction_bits - 1));
  } else if (value == 0) {
    magnitude = 0;
  } else if (std::isfinite(value)) {
    const int least = least_exponent(format);
    // From 2^(least + exponents) on it is infinite, however it is rounded.
    const int exponent = std::clamp(std::ilogb(value), least, least + (1 << format.exponent_bits));
    const double steps = std::nearbyint(std::ldexp(std::abs(value), format.fraction_bits - exponent));
    // What is rounded up to the next power of two carries into the exponent.
    const double bits = std::ldexp(exponent - least, format.fraction_bits) + steps;
    magnitude = static_cast<int>(std::min(bits, static_cast<double>(infinity)));
  }
  return static_cast<uint16_t>(sign | magnitude);
}

}  // namespace lathe
