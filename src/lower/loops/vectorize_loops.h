// Vectorised loops of constant extent L become expressions of L lanes.
//
//   for j in vectorized 16: C[o + j] = A[k] * B[p + j]
//     -> C[o .. o+15] = broadcast(A[k]) * B[p .. p+15]
//
// An offset in which the lane variable has coefficient 1 is a contiguous access, 0 a scalar broadcast,
// another constant a strided one. Conditions on the lane variable become masks (ramp < bound) of stores to
// memory and of those loads that could leave their buffer. Register buffers have room for all lanes
// (`compact_buffers`); their stores stay whole where nobody writes or reads what lies beyond the bound
// (register_stores.h). A select whose condition differs between lanes masks the loads on its sides likewise;
// one with a scalar condition stays a choice between vectors, and only the side that it takes may be
// evaluated. A loop that is shorter than the rows of registers that it fills fills them to their end, where
// nothing else is written there: 3 of 16 channels are stored as a vector of 16.
//
// A loop that cannot be vectorised (the lane variable inside a division, an indirect index, a loop extent; a
// vectorised loop inside; a store that all lanes share) becomes an unrolled one; without a constant extent it
// becomes serial. It runs after `flatten_buffers` (the coefficient of the lane variable is seen in offsets)
// and before `unroll_loops` (each statement is vectorised once, not once a copy).
#pragma once

#include "loop/loop.h"

namespace lathe {

Program vectorize_loops(const Program& program);

}  // namespace lathe
