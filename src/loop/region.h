// The one region analysis: which box of a buffer a statement touches while some variables are fixed.
// It serves compute_at, cache_read, compaction, padding, features and barriers alike.
#pragma once

#include <optional>
#include <vector>

#include "loop/loop.h"

namespace lathe {

// One dimension: base + 0 .. extent-1, base affine in the fixed variables.
struct BoxSide {
  Affine base;
  int64_t extent = 0;
};
using Box = std::vector<BoxSide>;

// Whether an indirect index occurs in the sum.
bool depends_on_values(const Affine& sum);

// An over-approximation of the values that `value` takes while the variables in `moving` run through their
// ranges and all others are fixed. Nothing where it cannot tell: no box begins at an indirect index, which
// only a block's value may hold.
std::optional<BoxSide> side_of(const Affine& value, const Ranges& moving, const Ranges& fixed);

// Whether a sum takes every value between its bounds while all its variables run through their ranges. False
// where it cannot tell.
bool reaches_all(const Affine& sum, const Ranges& ranges);

enum class Access : uint8_t { read, write, any };
// The box of `tensor` that `stmt` touches; loops inside `stmt` move, everything outside is fixed with the
// given ranges. A side that it cannot bound is the whole dimension, and more where accesses under conditions
// reach outside of it. Nothing if the tensor is not touched.
std::optional<Box> region(const Stmt& stmt, const Tensor& tensor, Access access, const Ranges& fixed);

}  // namespace lathe
