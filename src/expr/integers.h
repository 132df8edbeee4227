// What the integer element types hold, bool among them.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "expr/affine.h"
#include "expr/type.h"

namespace lathe {

// The least and the largest value of an integer type.
inline Interval integers_of(DType dtype) {
  const DTypeInfo& info = info_of(dtype);
  LATHE_CHECK(info.kind != NumberKind::floating);
  const auto most = static_cast<int64_t>((uint64_t{1} << info.digits) - 1);
  return {info.kind == NumberKind::signed_integer ? -most - 1 : 0, most};
}

// An integer as an element of the type keeps it: it wraps around; bool keeps whether it is 0.
inline int64_t wrap_to(DType dtype, int64_t value) {
  if (dtype == DType::boolean) return value != 0;
  const int beyond = 64 - 8 * info_of(dtype).bytes;
  const uint64_t kept = static_cast<uint64_t>(value) << beyond;
  return is_unsigned(dtype) ? static_cast<int64_t>(kept >> beyond) : static_cast<int64_t>(kept) >> beyond;
}

}  // namespace lathe
