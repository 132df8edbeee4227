// A reduction's start becomes a block of its own.
//
//   for i, r: block C initialises: C[i] += A[i, r]   ->   for i': block C.init: C[i'] = 0
//                                                         for i, r: block C: C[i] += A[i, r]
//
// The new nest repeats the loops that drive the block's spatial axes, with variables of its own and the same
// kinds, right before the outermost loop that drives one of its reduce axes. It runs first: every other pass
// meets blocks that only store or only update.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program decompose_reductions(const Program& program);

}  // namespace lathe
