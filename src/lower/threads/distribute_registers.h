// A buffer in registers that lies around several nests of threads is each thread's own part of it:
//
//   alloc C[64, 64] registers {                           alloc C[256, 4, 4] registers {
//     threads t in 256: C[4*(t/16) + i, 4*(t%16) + j]  ->   threads t in 256: C[t, i, j]
//
// The first dimension is the thread; a code generator leaves it out, since no thread reaches another's part.
// What is strided by several threads (virtual threads) is packed. It runs after `merge_threads` and
// `compact_buffers`. An Error (illegal_schedule) names a buffer whose elements the nests give to different
// threads, and one that lies in the workspace inside of a kernel.
#pragma once

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

Result<Program> distribute_registers(const Program& program);

}  // namespace lathe
