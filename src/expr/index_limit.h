// Which values of an integer input may serve as indices: what to draw test data from, and what a caller of a
// compiled program must stay inside of.
#pragma once

#include <cstdint>
#include <optional>

#include "expr/dag.h"

namespace lathe {

// Values that keep every read inside its tensor, not negative where such do; 0 alone where none is found.
// Other indirect values are taken to be harmless.
Interval index_values(const Dag& dag, const Tensor& input);

// All values of which the same holds for reads that always happen, those in a branch of a select left to its
// condition; nothing where any value does, or where none is found.
std::optional<Interval> index_range(const Dag& dag, const Tensor& input);

}  // namespace lathe
