// Conditions move outwards to the outermost place where all their variables are fixed, and those that all
// siblings share become one.
//
//   for i: for j: if 4*o + i < n: S      ->   for i: if 4*o + i < n: for j: S
//   for i: { for j: if i < n: S1; for k: if i < n: S2 }   ->   for i: if i < n: { for j: S1; for k: S2 }
//
// It runs after `compact_buffers` and before `shrink_loops` and `peel_tails`, which look for a condition
// right below the loops that it is about.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program hoist_guards(const Program& program);

}  // namespace lathe
