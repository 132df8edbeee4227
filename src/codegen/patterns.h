// What the code generators recognise in expressions, alike in every backend.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "expr/expr.h"
#include "loop/loop.h"

namespace lathe {

// Calls `visit` once for each node of `e`, however often it is shared: polynomials share so much that a walk
// along every path would take for ever. Loads inside opaque index atoms included.
void for_each_once(const Expr& e, const std::function<void(const Expr&)>& visit);

// a * b + c, with a * b or c negated.
struct MultiplyAdd {
  Expr a;
  Expr b;
  Expr c;
  bool negate_product = false;
  bool negate_addend = false;
};

// x + y or x - y of floats where one side is a product: always one fused operation, so that vectors and
// scalar tails round alike. Of two products the right one is fused.
std::optional<MultiplyAdd> match_multiply_add(const Expr& e);

// How many of the statements, from the first on, write vectors that fill one run of memory between them: two,
// four or eight as their stride is, each an element behind the one before, without masks, and none of them
// reads what they write. 0 where there are none.
size_t interleaved_stores(std::span<const Stmt> statements);

// The function of C's mathematics library that computes it of f64, which nothing expands; null where a
// program needs none.
const char* library_function(UnaryOp op);
const char* library_function(BinaryOp op);

// Whether evaluating `e` touches memory, which must not happen on the side of a select that is not taken.
bool may_fault(const Expr& e);

// +0 of its type, scalar or broadcast.
bool is_zero(const Expr& e);

}  // namespace lathe
