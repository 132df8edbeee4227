// The parts of loop/verify.h that run the loops around a block: how often it reaches the points of its
// domain, and whether it leaves it. Internal.
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

// `loops` are those around the block, outermost first; from `lifetime` on they lie within the lifetime of its
// output. `must_reach_all`: whether a point that is never reached is an error.
Status verify_coverage(const Block& block, std::span<const For* const> loops, size_t lifetime,
                       bool must_reach_all);

// A value outside of 0 .. extent-1 that an axis' binding takes where the conditions hold; nothing if there is
// none, or where that cannot be told. For axes whose bounds reach outside.
std::optional<int64_t> value_outside(const BlockAxis& axis, std::span<const For* const> loops,
                                     std::span<const Conjunct> conditions);

}  // namespace lathe
