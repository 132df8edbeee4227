// Register buffers take the dimension that vector loops run along as their innermost one.
//
//   alloc acc[n, f, y, x] registers, written along f in vectors   ->   layout [0][2][3][1]
//
// Registers have no memory order, so the schedule does not name one; contiguous lanes are what lets a code
// generator keep each vector in one register. It runs after `compact_buffers` (shapes are final) and before
// `flatten_buffers`, which takes the layout for good.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program order_registers(const Program& program);

}  // namespace lathe
