// What functions take beside arithmetic.
#pragma once

#include "expr/expr.h"

namespace lathe {

// How many multiply-adds of four bytes last as long as an expression, whose functions outweigh all else; at
// least one. Each counts by what it takes over 4,096 elements in the first-level cache.
double multiply_adds_of_point(const Expr& e);

}  // namespace lathe
