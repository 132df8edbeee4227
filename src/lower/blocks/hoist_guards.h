// Conditions move outwards to the outermost place where all their variables are fixed, and those that all
// siblings share become one.
//
//   for i: for j: if 4*o + i < n: S      ->   for i: if 4*o + i < n: for j: S
//   for i: { for j: if i < n: S1; for k: if i < n: S2 }   ->   for i: if i < n: { for j: S1; for k: S2 }
//
// What only fetches ahead, or fills a buffer that ends with the statements beside it, serves those: where
// they do not run it need not. So a tile whose results the next stage leaves out is not computed.
//
//   alloc T { T = S1; if i < n: S2(T) }   ->   if i < n: alloc T { T = S1; S2(T) }
//
// It runs after `compact_buffers` and before `shrink_loops` and `peel_tails`, which look for a condition
// right below the loops that it is about.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program hoist_guards(const Program& program);

}  // namespace lathe
