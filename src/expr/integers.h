// What the integer element types hold, bool among them.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "expr/affine.h"
#include "expr/type.h"

namespace lathe {

// The least and the largest value of an integer type, as far as an i64 holds them: those of u64 end at
// 2^63 - 1 here.
inline Interval integers_of(DType dtype) {
  const DTypeInfo& info = info_of(dtype);
  LATHE_CHECK(info.kind != NumberKind::floating);
  const int64_t most = info.digits < 63 ? (int64_t{1} << info.digits) - 1 : INT64_MAX;
  return {info.kind == NumberKind::signed_integer ? -most - 1 : 0, most};
}

// An integer as an element of the type keeps it: it wraps around; bool keeps whether it is 0. A u64 is kept
// as the i64 of the same bits.
inline int64_t wrap_to(DType dtype, int64_t value) {
  if (dtype == DType::boolean) return value != 0;
  const int beyond = 64 - 8 * info_of(dtype).bytes;
  const uint64_t kept = static_cast<uint64_t>(value) << beyond;
  return is_unsigned(dtype) ? static_cast<int64_t>(kept >> beyond) : static_cast<int64_t>(kept) >> beyond;
}

// The largest integer of the type, kept so.
inline int64_t largest_kept(DType dtype) {
  return dtype == DType::u64 ? wrap_to(dtype, -1) : integers_of(dtype).hi;
}

// The number that is kept so; of two beyond 2^53 that are as near the even one.
inline double number_kept(DType dtype, int64_t kept) {
  return is_unsigned(dtype) ? static_cast<double>(static_cast<uint64_t>(kept)) : static_cast<double>(kept);
}

}  // namespace lathe
