// Which values of an integer input may serve as indices: what to draw test data from, and what a caller of a
// compiled program must stay inside of.
#pragma once

#include <cstdint>
#include <optional>

#include "expr/dag.h"

namespace lathe {

// The largest limit <= 2^31 - 1 such that values 0 .. limit-1 of `input` keep every read inside its tensor;
// at least 1. Other indirect values are taken to be harmless.
int64_t index_limit(const Dag& dag, const Tensor& input);

// All values around 0 of which the same holds; nothing where any value does, or where 0 does not.
std::optional<Interval> index_range(const Dag& dag, const Tensor& input);

}  // namespace lathe
