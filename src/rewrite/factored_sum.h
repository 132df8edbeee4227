// A sum over the products of three factors or more as two sums: what one reduce axis does not move is taken
// out of its sum (the distributive law), and each multiply-add is left with two operands. A bilinear form
// becomes a matrix product and a sum along it.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "factored_sum" axis=N on O[i..] = sum over k.. of a product of three loads or more, of which at least
// two, and not all, read the N-th reduce axis k: O.F[axes of those but k] = sum over k of their product, and
// O = sum over the other reduce axes of what is left * O.F.
// Neither sum has more multiply-adds than the one that they replace.
Result<Dag> rewrite_factored_sum(const Dag& dag, const std::string& stage,
                                 const RewriteParameters& parameters);

}  // namespace lathe
