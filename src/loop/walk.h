// The only generic arms over statements: visiting, rebuilding, finding blocks and loops. See expr/walk.h.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "expr/walk.h"
#include "loop/loop.h"

namespace lathe {

// Calls `visit` for `stmt` and everything below it, outside in.
void for_each(const Stmt& stmt, const std::function<void(const StmtNode&)>& visit);

// Rebuilds bottom-up: `rewrite` gets a node with its new children and returns its replacement (null removes
// the statement) or nothing to keep it. What does not change is shared.
using StmtRewrite = std::function<std::optional<Stmt>(const Stmt&)>;
Stmt rebuild(const Stmt& stmt, const StmtRewrite& rewrite);

// Replaces one node (by identity) with another statement, copying only the path to it; null removes it.
Stmt replace(const Stmt& root, const StmtNode* target, const Stmt& replacement);

// Replaces loop variables in everything below: extents, bindings, predicates, lowered accesses and values.
Stmt substitute(const Stmt& stmt, const Substitution& substitution);
// Applies a rewriter to every expression and index below (block bodies included).
Stmt rewrite_expressions(const Stmt& stmt, const ExprRewriter& rewriter);

// From the root to a node: every statement on the way, the node last. Empty if it is not there.
using Path = std::vector<Stmt>;
Path path_to_block(const Stmt& root, std::string_view block);
Path path_to(const Stmt& root, const StmtNode* target);

// The ranges of the loops on a path (a loop's largest extent counts).
Ranges ranges_of(const Path& path);
// The largest number of iterations that a loop can run, given the ranges of what is outside; -1 if unknown.
int64_t largest_extent(const For& loop, const Ranges& outer);

// All blocks below, in program order.
std::vector<const Block*> blocks_of(const Stmt& stmt);

}  // namespace lathe
