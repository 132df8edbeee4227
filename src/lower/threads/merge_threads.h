// Thread loops of a device become one loop over all threads of a block, for each nest of them:
//
//   threads i in 4 { threads j in 8 { S(i, j) } }   ->   threads t in 32 { S(t / 8, t % 8) }
//   if c(i) between the two                         ->   a condition around S
//   a statement that no thread loop is around       ->   threads t in 1 { S }
//
// What lies around the nests (serial loops, conditions, buffers) then runs the same for all threads of a
// block: barriers may stand there. The innermost loop of a nest gives neighbouring threads. It runs after
// `hoist_guards`. An Error (illegal_schedule) names a loop of blocks that lies inside of another kind, and a
// loop of threads that other loops of its nest separate from the rest.
#pragma once

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

Result<Program> merge_threads(const Program& program);

// Whether a loop of that kind is among the statement and what is below it.
bool has_loop(const Stmt& stmt, LoopKind kind);

}  // namespace lathe
