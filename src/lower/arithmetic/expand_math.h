// exp, log, tanh, erf, sin, cos and pow of f32 become arithmetic, scalar and vector alike; no mathematics
// library is called but for remainders, which are those of the same numbers in f64. docs/numerics.md has each
// function's largest error over all f32, at most 1.4 units in the last place, and its special values, which
// are C's.
//
//   exp(x)  ->  p(x - n*ln 2) * pow2(n - 1) * 2,  n = round(x / ln 2),  p a polynomial of degree 6
//
// sin, cos and most powers are computed in f64 (`math_in_double`). Other types keep their nodes: f64's are
// the mathematics library's (codegen/patterns.h). It runs last of the rewriting passes: its trees share
// parts, which a pass that rebuilds trees would copy.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program expand_math(const Program& program);

// The same for one expression.
Expr expand_math(const Expr& e);

}  // namespace lathe
