// tail=peel: a loop whose last iterations break a condition is cut into the part where the condition always
// holds and the rest, with constants, so that unrolled and vectorised loops inside get constant extents.
//
//   for o in 84: for i in unrolled 12: if 12*o + i < 1000: S
//     -> for o in 83: for i in unrolled 12: S(o, i)
//        for i in unrolled 4: S(83, i)
//
// Where to cut. A condition over loops v1 .. vm (outside in) is cut at the last serial or parallel loop vk
// with one of its loops below it: those below decide the register tile and the vectors. The loops outside vk
// stay whole: with value = c*vk + outer + inner, the full iterations are vk < t - outer/c, and each partial
// one has the constant vk + outer/c = t, so vk = t - outer/c is substituted (where c divides outer; if not,
// the condition stays a guard). All that stands in vk's body goes along, siblings with conditions of their
// own included, and each part is simplified with its ranges and cut again: several conditions and axes give
// the product of their cases. What remains right below an innermost serial loop shrinks the loop; below an
// unrolled one it is decided by unrolling; below a vectorised one it becomes a mask, since vectors keep their
// width.
//
// Parallel loops stay whole, so that their load stays balanced: the cases stand as conditions in their body.
// Growth is bounded: a cut that would make the tree larger than kMaxPeeledStores (unrolled stores) is not
// made.
//
// Selects are cut alike, at either end of where their condition holds: what pads an image has no condition
// left but in its border.
//
//   for x in 230: P[x] = select(3 <= x && x < 227, I[x - 3], 0)
//     -> for x in 3: P[x] = 0    for x in 224: P[x + 3] = I[x]    for x in 3: P[x + 227] = 0
//
// tail=pad cuts alike, and where nothing is cut the condition goes, since there is room.
//
// tail=overlap cuts alike, but the last tile starts early enough to be whole: c*vk := bound - tile. Only
// where vk is the outermost loop of the condition, a tile is without gaps, all that uses vk in the body
// stands under the condition, and nothing there adds to what stood in memory before; otherwise it peels.
//
// It runs after `hoist_guards` (conditions right below their loops) and `shrink_loops`, and before
// `vectorize_loops` and `unroll_loops`, which need constant extents.
#pragma once

#include "loop/loop.h"

namespace lathe {

// Unrolled stores of one tree beyond which conditions stay guards instead of being cut.
inline constexpr int64_t kMaxPeeledStores = 4096;

Program peel_tails(const Program& program);

}  // namespace lathe
