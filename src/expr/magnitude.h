// How large sums of integers can become, in double, where the sum itself might overflow.
#pragma once

#include "expr/affine.h"

namespace lathe {

// What a variable without a range, or an opaque value, is taken to reach.
constexpr double kAssumedMagnitude = 2147483648.0;

// The largest magnitude that a sum or any part of it can have.
double magnitude(const Affine& a, const Ranges& ranges = {});

}  // namespace lathe
