// What the integer element types hold, bool among them.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "expr/affine.h"
#include "expr/type.h"

namespace lathe {

// The least and the largest value of an integer type.
inline Interval integers_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return {0, 1};
    case DType::i8: return {INT8_MIN, INT8_MAX};
    case DType::i32: return {INT32_MIN, INT32_MAX};
    case DType::i64: return {INT64_MIN, INT64_MAX};
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: break;
  }
  check_failed("the type is an integer", __FILE__, __LINE__);
}

// An integer as an element of the type keeps it: it wraps around; bool keeps whether it is 0.
inline int64_t wrap_to(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::boolean: return value != 0;
    case DType::i8: return static_cast<int8_t>(value);
    case DType::i32: return static_cast<int32_t>(value);
    default: return value;
  }
}

}  // namespace lathe
