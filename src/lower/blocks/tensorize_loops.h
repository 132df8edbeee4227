// Tensorized loops become calls of their intrinsic.
//
//   vector j in 16: tensor t in 4 by dot4_u8_i8: C[j] = C[j] + i32(A[k + t]) * i32(B[p + 4*j + t])
//     -> vector j in 16: C[j] = call(dot4_u8_i8, C[j], A[k .. k+3], B[p + 4*j .. p + 4*j + 3])
//
// Each factor is a vector of one group; `vectorize_loops` puts the groups of all lanes together, where they
// lie one after another, or leaves the one that all lanes share. So the loop must hold one store that adds up
// a product, and a factor must have its groups side by side along the vectorised loop around or not move with
// it. A loop for which that is not so, such as the one over what is left of a reduction whose length the
// group does not divide, is unrolled. It runs after `flatten_buffers` (offsets tell what lies together) and
// before `vectorize_loops`.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program tensorize_loops(const Program& program);

}  // namespace lathe
