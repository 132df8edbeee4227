// The only generic arms over expressions: visit every node, rebuild a tree bottom-up, substitute, collect.
// Printers, interpreters and code generators switch over the variant themselves, so a new node must be
// handled.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "expr/expr.h"

namespace lathe {

// Calls `visit` for `e` and everything below it, outside in; loads inside opaque index atoms included.
void for_each(const Expr& e, const std::function<void(const Expr&)>& visit);
// How many nodes that are.
size_t size_of(const Expr& e);
// Every load in `e`, left to right.
std::vector<const Load*> loads_of(const Expr& e);

// Rebuilds bottom-up: children first, then `rewrite` on the node with its new children; `rewrite` returns an
// undefined Expr to keep the node. `rewrite_affine` is applied to every index, then `rewrite` to the nodes of
// its opaque atoms. Shares what does not change.
struct ExprRewriter {
  std::function<Expr(const Expr&)> rewrite;
  std::function<Affine(const Affine&)> rewrite_affine;
};
Expr rebuild(const Expr& e, const ExprRewriter& rewriter);

// A sum with every opaque value (an indirect index) mapped.
Affine map_opaque(const Affine& a, const std::function<Expr(const Expr&)>& map);

// Replaces variables everywhere.
Expr substitute(const Expr& e, const Substitution& substitution);
// Simplifies every index with what is known of the variables.
Expr simplify_indices(const Expr& e, const Ranges& ranges);
// Whether a variable occurs.
bool uses(const Expr& e, const Var& var);
void collect_vars(const Expr& e, std::vector<Var>& vars);

}  // namespace lathe
