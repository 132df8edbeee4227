// Unrolled loops of constant extent become copies of their body, with literal values of the variable.
//
//   for i in unrolled 2: if 4*o + i < 9: alloc T: S(i, T)  ->  if 4*o < 9: alloc T0: S(0, T0)
//                                                              if 4*o + 1 < 9: alloc T1: S(1, T1)
//
// Each copy has loop variables and buffers of its own; conditions that become decided go. Offsets of copies
// differ only by constants; equal loads in them are left to the code generator. An unrolled loop without a
// constant extent runs as a serial one. It runs after `vectorize_loops`, which leaves only serial, parallel
// and unrolled loops.
#pragma once

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

// An Error if a tree would hold more than `max_statements` stores and prefetches.
Result<Program> unroll_loops(const Program& program, int64_t max_statements);

}  // namespace lathe
