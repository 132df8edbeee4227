// Conjuncts with tail=pad go: their block computes beyond the bound, into room that is there.
//
//   block C where v_i < 1000 (pad): C.reg[v_i] += ..   ->   block C (v_i: 1008): C.reg[v_i] += ..
//
// Along vectors the condition that their first lanes meet it stays, tail=pad in the If, for `peel_tails`: of
// a tile of several vectors those of nothing but padding are left out.
//
//   block C where 16*o + 4*u + l < 18 (pad), l the lanes   ->   block C where 16*o + 4*u < 18: all its lanes
//
// An Error unless it is harmless: every argument and prepared buffer that the block touches has that room
// (`capacity` of its layout), a buffer under an Alloc gets a larger shape; and on a reduce axis the update
// beyond the bound adds nothing, since all that it loads there was written as padding of zeros
// (`select(index < bound, x, 0)`). It runs on blocks, which know their axes, after `decompose_reductions`.
#pragma once

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

Result<Program> drop_padding(const Program& program);

}  // namespace lathe
