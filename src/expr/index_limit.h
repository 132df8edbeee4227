// How large the values of an integer input may be where they serve as indices: what to draw test data from.
#pragma once

#include <cstdint>

#include "expr/dag.h"

namespace lathe {

// The largest limit <= 2^31 - 1 such that values 0 .. limit-1 of `input` keep every read inside its tensor;
// at least 1. Other indirect values are taken to be harmless.
int64_t index_limit(const Dag& dag, const Tensor& input);

}  // namespace lathe
