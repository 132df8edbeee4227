// Arithmetic with literals: what is known while compiling is not left to run.
//
//   x + 0, x * 1, x / 1 -> x     x * 0 -> 0     x * -1 -> -x     a + -b -> a - b     -(-x) -> x
//   -1 * (a - b) -> b - a
//   but not 0 - x -> -x or -(a - b) -> b - a, whose zeros have another sign: 1 / (0 - max(x, 0)) tells them
//   apart
//   table[3, 4] of a literal tensor -> its value            a condition that the ranges decide -> its side
//   x / 3 < 4 of indices -> x < 12
//   a mask that is all true -> none; all false -> no store, or zeros
//
// The literal 0 of a product is structural (Winograd's matrices): 0 * infinity folds to 0 as well. It runs
// after `unroll_loops`, which makes the tables' indices constant; `fold` also serves the passes before it,
// which call it where new ranges decide conditions.
#pragma once

#include "lower/blocks/known.h"

namespace lathe {

Program fold_arithmetic(const Program& program);

// The same for one expression at a place of which `known` is known. Literal tables fold by their logical or
// flattened index.
Expr fold(const Expr& e, const Known& known);

// Whether a condition is known to be true or false.
bool is_true(const Expr& condition);
bool is_false(const Expr& condition);

}  // namespace lathe
