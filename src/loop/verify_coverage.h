// The part of loop/verify.h that counts how often a block reaches the points of its domain. Internal.
#pragma once

#include <span>

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

// `loops` are those around the block, outermost first; from `lifetime` on they lie within the lifetime of its
// output. `must_reach_all`: whether a point that is never reached is an error.
Status verify_coverage(const Block& block, std::span<const For* const> loops, size_t lifetime,
                       bool must_reach_all);

}  // namespace lathe
