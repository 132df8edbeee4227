// Inverse functions of angles and of hyperbolic ones, of the functions that expressions have.
#pragma once

#include <vector>

#include "graph/operators/family.h"

namespace lathe {

// log(1 + e) for e in [-1/2, 1], where 1 + e would lose the digits of a small e: error 4.6e-9 of it,
// in f64 some 4e-16.
Expr near_log_1_plus(const Expr& e);
// c[0] + c[1] * x + c[2] * x^2 + ..
Expr polynomial(const std::vector<double>& coefficients, const Expr& x);

// Within 4 ulp of f32, some 8 of f64; NaN beyond where they are defined.
Expr asin(const Expr& x);
Expr acos(const Expr& x);
Expr atan(const Expr& x);
Expr asinh(const Expr& x);
Expr acosh(const Expr& x);
Expr atanh(const Expr& x);

}  // namespace lathe
