// The space that Lathe searches by default: sketches derived from the Dag by the rules of space/rules, for
// the Dag itself and for all that the rewrites of src/rewrite make of it. There is no template for any
// operator.
#pragma once

#include "analysis/cost_constants.h"
#include "space/space.h"

namespace lathe {

// Where the task requires an algorithm, its sketches alone: an Error of kind unsupported if its rule applies
// to no compute. The points to begin with are the analytic model's choice in each sketch, most promising
// sketch first: an algorithm goes before the direct program only where sizes promise a clear gain. Other
// choices that the model finds about as good stand behind those of the first few sketches.
Result<Space> derive_lathe(const Task& task, const CostConstants& costs = {});

}  // namespace lathe
