// Functions of f32 that need more than f32 on the way: arithmetic in f64, rounded once at the end. Lanes stay
// lanes. Each result is within 0.51 units in the last place of the exact one, subnormals included.
#pragma once

#include "expr/expr.h"

namespace lathe {

// sin(x + quarters * pi / 2), for every f32: infinities and NaN give NaN.
Expr sine_in_double(const Expr& x, int quarters);

// a^b with the special values of C's pow.
Expr power_in_double(const Expr& a, const Expr& b);

// a^n for a whole n, by products.
Expr product_in_double(const Expr& a, int n);

}  // namespace lathe
