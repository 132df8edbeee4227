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

// The same for a narrower type; a boolean is whether the value is anything but 0.
inline int64_t saturated(DType dtype, double value) {
  if (dtype == DType::boolean) return value != 0;
  const Interval range = integers_of(dtype);
  return std::clamp(truncate(value), range.lo, range.hi);
}

}  // namespace lathe
