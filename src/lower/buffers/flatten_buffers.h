// Logical indices become offsets: each access gets the one index that the buffer's layout gives.
//
//   alloc B[999, 1001] layout [1/32][0][1%32]: .. B[r, 32*j + l]   ->   .. B[31968*j + 32*r + l]
//
// Divisions and modulos that the loops' ranges decide disappear here, before loops are copied: unrolled
// copies then differ by constants only. It runs after `compact_buffers` (local indices) and `peel_tails`
// (final ranges) and before `vectorize_loops`, which looks at the coefficient of the lane variable.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program flatten_buffers(const Program& program);

}  // namespace lathe
