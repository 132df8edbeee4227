// Single values as operations and casts give them, NaN and the ends of the types included (docs/numerics.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "expr/integers.h"

namespace lathe {

// The lesser and the larger of two; NaN where either is.
inline double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }
inline double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// Cut towards zero; what has no 64-bit integer saturates, NaN gives 0.
inline int64_t truncate(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  if (value < -kLimit) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

// The same for any integer type, kept as it keeps it; a boolean is whether the value is anything but 0.
inline int64_t saturated(DType dtype, double value) {
  if (dtype == DType::boolean) return value != 0;
  if (dtype == DType::u64 && value > 0) return static_cast<int64_t>(element_of<uint64_t>(value));
  const Interval range = integers_of(dtype);
  return std::clamp(truncate(value), range.lo, range.hi);
}

// Cut towards zero, and kept as the type keeps it: what it does not hold wraps around, but for what has no
// integer of 64 bits.
inline int64_t cut_to(DType dtype, double value) {
  return dtype == DType::u64 && value > 0 ? saturated(dtype, value) : wrap_to(dtype, truncate(value));
}

}  // namespace lathe
