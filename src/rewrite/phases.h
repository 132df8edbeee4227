// A strided transposed convolution by phases: output pixels whose coordinate leaves the same remainder by the
// stride form a dense convolution of the unexpanded input with every stride-th tap, so the zeros that
// expansion puts between the inputs are never multiplied.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "phases" on the sum that reads a chain of element-wise computes down to
// `select(y % s == 0 .., I[.., y / s, ..], 0)`. O[n,f,y,x] becomes O.P [n,f,y/s,x/s,a,b] (a, b the phases)
// over a padded input O.I, and O picks.
Result<Dag> rewrite_phases(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);

}  // namespace lathe
