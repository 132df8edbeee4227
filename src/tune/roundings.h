// What roundings on the way do to a Dag's results, to be seen by the evaluator, which has none.
#pragma once

#include "expr/dag.h"

namespace lathe {

// The same Dag, over the same tensors, in which each operation of floats that may round, and each term of a
// sum, comes out a little larger or smaller, by some roundings of its type; which of both hangs on the
// element. What is exact because a result is 0 stays so. `number` tells several such apart; two in a row, an
// even number and the next, are off the opposite way.
Dag with_roundings(const Dag& dag, int number);

}  // namespace lathe
