// A sum of quotients times other factors, where the sum does not move the divisor, as the quotient of a sum:
// softmax's division comes after the product with the values, of which there are fewer than scores, and no
// pass over the scores is left for it alone.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "factored_quotient" on O[i..] = sum over k.. of P[..] * others, where P = N / D, a load over anything
// that k does not move, is read by O alone and has more elements than O: O.N = sum over k.. of N * others,
// and O = O.N / D. A product that overflows where the quotients did not is one of numbers near the type's
// largest.
Result<Dag> rewrite_factored_quotient(const Dag& dag, const std::string& stage,
                                      const RewriteParameters& parameters);

}  // namespace lathe
