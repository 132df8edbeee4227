// How far values may go before a program's own types show. Internal.
#pragma once

#include <array>
#include <cmath>

#include "expr/integers.h"
#include "expr/type.h"

namespace lathe::evaluator {

constexpr std::array<double, kDTypes.size()> kTooFar = [] {
  std::array<double, kDTypes.size()> limits = {};
  for (const DTypeInfo& info : kDTypes) {
    double& limit = limits[static_cast<size_t>(info.dtype)];
    limit = 1;
    const int exponent = is_float(info.dtype) ? info.exponent / 2 : 53;
    for (int i = 0; i < exponent; ++i) limit *= 2;
  }
  return limits;
}();

// The least magnitude that is too much for a value of the type, unless its operands were too much already:
// one whose square is infinite, or an integer whose neighbour a double cannot tell from it.
constexpr double too_far(DType dtype) { return kTooFar[static_cast<size_t>(dtype)]; }

// NaN does not: it is found where it arrives.
inline bool goes_too_far(DType dtype, double value) { return std::abs(value) >= too_far(dtype); }

// Whether a float has no integer of the type; all have a boolean.
inline bool is_outside(DType integer, double value) {
  if (integer == DType::boolean) return false;
  const Interval values = integers_of(integer);
  const double cut = std::trunc(value);
  return cut < static_cast<double>(values.lo) || cut > number_kept(integer, largest_kept(integer));
}

}  // namespace lathe::evaluator
