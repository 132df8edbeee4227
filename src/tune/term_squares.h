// How large the numbers are of whose sums and differences a Dag's floats are made: where an element is next
// to nothing beside these, they cancel, and what is left of it is their roundings. Plain functions.
#pragma once

#include "expr/dag.h"

namespace lathe {

// A Dag over the same inputs whose outputs are, for each output of floats in order, the squares of such
// magnitudes: those of a sum's terms added up, as they come out where signs are random, and no less than the
// sum itself where another compute reads it; of a product or quotient those of the factors; of a choice those
// of what is chosen; of any other function its value.
Dag term_squares(const Dag& dag);

}  // namespace lathe
