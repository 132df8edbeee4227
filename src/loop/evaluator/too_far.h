// How far values may go before a program's own types show. Internal.
#pragma once

#include <cmath>

#include "expr/integers.h"
#include "expr/type.h"

namespace lathe::evaluator {

// The least magnitude that is too much for a value of the type, unless its operands were too much already:
// one whose square is infinite, or an integer whose neighbour a double cannot tell from it.
constexpr double too_far(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x1p8;
    case DType::bf16:
    case DType::f32: return 0x1p64;
    case DType::f64: return 0x1p512;
    case DType::boolean:
    case DType::i8:
    case DType::i32:
    case DType::i64: break;
  }
  return 0x1p53;
}

// NaN does not: it is found where it arrives.
inline bool goes_too_far(DType dtype, double value) { return std::abs(value) >= too_far(dtype); }

// Whether a float has no integer of the type; all have a boolean.
inline bool is_outside(DType integer, double value) {
  if (integer == DType::boolean) return false;
  const Interval values = integers_of(integer);
  const double cut = std::trunc(value);
  return cut < static_cast<double>(values.lo) || cut > static_cast<double>(values.hi);
}

}  // namespace lathe::evaluator
