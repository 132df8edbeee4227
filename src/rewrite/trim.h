// Iterations of a reduction that add nothing to any result, since there a factor is a zero put in by a
// condition: the taps of a window that lie beside an image of one row wherever the window stands.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "trim": the reduce axes of a sum of products run over what lies between the first and the last
// iteration that adds something anywhere. An Error where that is all of them.
Result<Dag> rewrite_trim(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);

}  // namespace lathe
