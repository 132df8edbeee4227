// What ranges decide is taken out of a lowered tree:
//
//   for i in 1: S(i)                      -> S(0)             for i in 0: S -> nothing
//   for i in min(12, 40 - j), j < 20: S   -> for i in 12: S
//   if i < 9 (proved): S                  -> S                if i < 9 (disproved): S -> nothing
//   alloc T: stores to T, no other reads  -> nothing          a select with a decided condition -> its side
//
// It runs after `lower_blocks` (conjuncts that hold need no treatment) and again inside `peel_tails` on every
// part that is cut off, since the part's ranges decide more.
#pragma once

#include "lower/blocks/known.h"

namespace lathe {

Program simplify_loops(const Program& program);

// The same for a statement at a place of which `known` is known; null if nothing is left.
Stmt simplify_loops(const Stmt& stmt, const Known& known);

}  // namespace lathe
