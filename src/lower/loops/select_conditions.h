// Where the value of a store changes its form: the comparisons that its selects decide by.
#pragma once

#include <vector>

#include "loop/loop.h"

namespace lathe {

// Each affine comparison in the conditions of the selects of `value` as a conjunct, and its negation beside
// it: a select has something to do on either side.
std::vector<Conjunct> select_conditions(const Expr& value);

}  // namespace lathe
