// Strassen's algorithm, one level of it, as a rewrite of the Dag ("Gaussian elimination is not optimal",
// Numerische Mathematik 13, 1969): a product of matrices cut in quarters takes seven products of quarters in
// place of eight. Rows come in pairs that lie beside each other, so that a few rows alone can be computed at
// a time; channels and features come in halves, so that each keeps its elements side by side.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "strassen", without parameters. O [m,n], the sum over k of data(m,k) * weight(k,n), becomes
// O.SW [t,k',n'] (weights, of four quarters), O.SV [t,p,k'] (data, of pairs of rows p), O.SM [t,p,n'] (the
// seven products), O.SY [p,n',q] (their sums, of four quarters) and O. What both operands vary with, and
// further axes of either, stay. An Error unless an axis of each kind can be halved: channels and features
// must be even, a last row without a partner has zeros.
Result<Dag> rewrite_strassen(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);

// One choice where the multiplications saved outweigh the sums and the weights that come in addition.
std::vector<RewriteParameters> strassen_choices(const Dag& dag, const std::string& stage);

}  // namespace lathe
