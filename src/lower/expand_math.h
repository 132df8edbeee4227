// exp, log, tanh, erf and pow of f32 become arithmetic, scalar and vector alike; no mathematics library is
// called.
//
//   exp(x)  ->  2 * p(x - n*ln 2) * pow2(n - 1),  n = floor(x / ln 2 + 1/2),  p a polynomial of degree 6
//
// Largest error relative to the exact value, every operation rounded to f32 (measured in
// expand_math_test.cpp):
//   exp   3e-7 for x in [-86.9, 88.7]; below -86.9 it gives 0, above 88.73 infinity
//   log   3e-7 for normal x > 0; 0 and subnormals give -infinity, negative x NaN
//   tanh  3e-7 everywhere
//   erf   5e-7 everywhere
//   pow   8e-6 as exp(b * log|a|); 1e-6 for a literal b that is +-1/2 or a whole number from -16 to 16, which
//         becomes products and roots. a < 0 gives NaN unless b is whole; b = 0 gives 1
// Other types keep their nodes. It runs last of the rewriting passes: its trees share parts, which a pass
// that rebuilds trees would copy.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program expand_math(const Program& program);

// The same for one expression.
Expr expand_math(const Expr& e);

}  // namespace lathe
