// An order of expressions by what they say, the same in every run of the same program.
#pragma once

#include "expr/expr.h"

namespace lathe {

// A total order: -1, 0 or 1, and 0 exactly where `equal` holds. Tensors stand in the order of their names,
// variables in that of their creation.
int compare(const Expr& a, const Expr& b);

}  // namespace lathe
