// Which values of an integer input may serve as indices: what to draw test data from, and what a caller of a
// compiled program must stay inside of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// For each input, in their order, values that keep every read inside its tensor, not negative where such do,
// but for i8 that is in no index, which may have any value; 0 alone where none is found. Inputs that meet in
// one index share its room. Indirect values that are none of inputs are taken to be harmless.
std::vector<Interval> index_values(const Dag& dag);

// All values of one input that keep reads that always happen inside, those in a branch of a select left to
// its condition; nothing where any value does, or where none is found. Other indirect values are taken to be
// harmless.
std::optional<Interval> index_range(const Dag& dag, const Tensor& input);

}  // namespace lathe
