// tail=bound: the condition becomes one more extent of the loop right around it.
//
//   for r in 256: if 256*o + r < 999 (bound): S   ->   for r in min(256, 999 - 256*o): S
//
// Only for serial and parallel loops whose whole body the condition guards. A bound on an unrolled or
// vectorised loop needs a constant extent and is left to `peel_tails`; any other stays a guard. It runs after
// `hoist_guards`, which brings the condition right below its innermost loop.
#pragma once

#include <optional>

#include "loop/loop.h"

namespace lathe {

Program shrink_loops(const Program& program);

// The number of iterations of `var` for which the conjunct holds, if its coefficient is positive and it
// occurs in no division: floor((bound - 1 - rest) / coefficient) + 1 where value = coefficient * var + rest.
std::optional<Affine> iterations_within(const Conjunct& conjunct, const Var& var);

}  // namespace lathe
