// The length from which on a program is not tried: what takes the compiler seconds to write is never fast.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace lathe {

// Statements that the body of one block may become by unrolling.
inline constexpr int64_t kLongestBody = 4096;

// An Error "too long: .." (of kind illegal_schedule) where a block's body becomes more statements than that;
// `statements` is the product of the extents of its unrolled loops and of the vectors of its vectorized one.
// Decided from extents, so that no program has to be written.
Status check_length(std::string_view block, int64_t statements);

}  // namespace lathe
