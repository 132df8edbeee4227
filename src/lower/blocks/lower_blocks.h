// Blocks become stores over loop variables.
//
//   block C (v_i = 4*i.0 + i.1, v_r = r) where 4*i.0 + i.1 < 10: C[v_i] += A[v_i, v_r]
//     -> if 4*i.0 + i.1 < 10 (with the axis' tail): C[4*i.0 + i.1] = C[4*i.0 + i.1] + A[4*i.0 + i.1, r]
//
// Conjuncts that the loops' ranges prove are dropped. It runs after `decompose_reductions`: no block
// initialises.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program lower_blocks(const Program& program);

}  // namespace lathe
