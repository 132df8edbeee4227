// The text form of loop programs, read back by loop/parse.h: parse(print(p)) prints the same again.
//
//   input A: f32[100, 99] [0][1]                       # also: constant, output; the layout; "free" if it is
//   prepared B.pack: f32[99, 64] [1/16][0][1%16]
//   table G: f32[2, 2] = {1.0, 0.5, 0.5, 1.0}
//   flat                                               # accesses are offsets
//   prepare { ... }
//   main {
//     parallel i.0 in 13 {                             # also: for, unroll, vector
//       alloc T: f32[8, 64] thread [0][1] {            # also: workspace, registers
//         for j in min(16, 64 - 16*i.0) {
//           block C where 8*i.0 + i.1 < 100 axis 0 {   # the conjunct guards the block's axis 0
//             i: 100 = 8*i.0 + i.1 peel                # axis: extent = binding, tail where it is not guard
//             reduce r: 99 = r
//             C[i, j] init sum= A[i, r] * B[r, j]      # also: max= min= and = without a reduction
//           }
//           if 8*i.0 < 92 { ... }
//           store C[64*i + j; 8 by 1 if mask] = A[64*i + j; 8 by 1]
//           prefetch A[64*i + j + 64]
//         }
//       }
//     }
//   }
//
// Loops and buffers whose name is taken around them are printed with a number behind it; sums are written in
// the order in which their variables are declared. Names must be identifiers.
#pragma once

#include <string>

#include "loop/loop.h"

namespace lathe {

std::string to_string(const Program& program);
// One statement; what it reads from outside keeps its name.
std::string to_string(const Stmt& stmt);
// "8*i.0 + i.1 < 100 axis 0": a condition as it stands in the text.
std::string to_string(const Conjunct& conjunct);
// "for", "unroll", "vector", "parallel".
const char* to_string(LoopKind kind);
// "registers", "thread", "workspace".
const char* to_string(Scope scope);
// "guard", "bound", "peel", "mask", "overlap", "pad".
const char* to_string(Tail tail);

}  // namespace lathe
