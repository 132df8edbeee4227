#include "loop/walk.h"

#include <algorithm>

#include "base/check.h"

namespace lathe {
namespace {

// The statements directly below a node.
std::vector<Stmt> children_of(const StmtNode& node) {
  struct Visitor {
    std::vector<Stmt> operator()(const For& s) const { return {s.body}; }
    std::vector<Stmt> operator()(const Block&) const { return {}; }
    std::vector<Stmt> operator()(const Seq& s) const { return s.statements; }
    std::vector<Stmt> operator()(const Alloc& s) const { return {s.body}; }
    std::vector<Stmt> operator()(const If& s) const { return {s.body}; }
    std::vector<Stmt> operator()(const Store&) const { return {}; }
    std::vector<Stmt> operator()(const Prefetch&) const { return {}; }
  };
  return std::visit(Visitor{}, node.node);
}

// The node with other children; null where nothing is left of it.
struct WithChildren {
  const Stmt& self;
  std::vector<Stmt>& children;

  template <class Node>
  Stmt single(Node node) const {
    if (!children[0]) return nullptr;
    node.body = children[0];
    return make_stmt(std::move(node));
  }
  Stmt operator()(const For& s) const { return single(s); }
  Stmt operator()(const Block&) const { return self; }
  Stmt operator()(const Seq&) const { return make_seq(std::move(children)); }
  Stmt operator()(const Alloc& s) const { return single(s); }
  Stmt operator()(const If& s) const { return single(s); }
  Stmt operator()(const Store&) const { return self; }
  Stmt operator()(const Prefetch&) const { return self; }
};

Stmt with_children(const Stmt& stmt, std::vector<Stmt> children) {
  return std::visit(WithChildren{stmt, children}, stmt->node);
}

bool find_path(const Stmt& stmt, const std::function<bool(const StmtNode&)>& matches, Path& path) {
  path.push_back(stmt);
  if (matches(*stmt)) return true;
  for (const Stmt& child : children_of(*stmt)) {
    if (find_path(child, matches, path)) return true;
  }
  path.pop_back();
  return false;
}

// Applies the rewriters to what one node holds itself (children are already rewritten).
struct ExpressionVisitor {
  const Stmt& self;
  const ExprRewriter& rewriter;
  bool bodies;  // whether block bodies, which name axes only, are rewritten too

  Affine affine(const Affine& a) const { return rewriter.rewrite_affine ? rewriter.rewrite_affine(a) : a; }
  Expr expr(const Expr& e) const { return e.defined() ? rebuild(e, rewriter) : e; }
  std::vector<Conjunct> conjuncts(std::vector<Conjunct> list) const {
    for (Conjunct& conjunct : list) conjunct.value = affine(conjunct.value);
    return list;
  }

  Stmt operator()(const For& s) const {
    For result = s;
    for (Affine& extent : result.extents) extent = affine(extent);
    return result.extents == s.extents ? self : make_stmt(std::move(result));
  }
  Stmt operator()(const Block& s) const {
    Block result = s;
    for (BlockAxis& axis : result.axes) axis.binding = affine(axis.binding);
    result.predicate = conjuncts(s.predicate);
    if (bodies) {
      for (Affine& index : result.output_index) index = affine(index);
      result.value = expr(s.value);
    }
    return make_stmt(std::move(result));
  }
  Stmt operator()(const Seq&) const { return self; }
  Stmt operator()(const Alloc&) const { return self; }
  Stmt operator()(const If& s) const { return make_stmt(If{conjuncts(s.conditions), s.body}); }
  Stmt operator()(const Store& s) const {
    Store result = s;
    for (Affine& index : result.index) index = affine(index);
    result.value = expr(s.value);
    result.mask = expr(s.mask);
    return make_stmt(std::move(result));
  }
  Stmt operator()(const Prefetch& s) const {
    Prefetch result = s;
    for (Affine& index : result.index) index = affine(index);
    return make_stmt(std::move(result));
  }
};

Stmt rewrite_all(const Stmt& stmt, const ExprRewriter& rewriter, bool bodies) {
  return rebuild(stmt, [&](const Stmt& node) -> std::optional<Stmt> {
    return std::visit(ExpressionVisitor{node, rewriter, bodies}, node->node);
  });
}

}  // namespace

void for_each(const Stmt& stmt, const std::function<void(const StmtNode&)>& visit) {
  visit(*stmt);
  for (const Stmt& child : children_of(*stmt)) for_each(child, visit);
}

Stmt rebuild(const Stmt& stmt, const StmtRewrite& rewrite) {
  std::vector<Stmt> children = children_of(*stmt);
  bool changed = false;
  for (Stmt& child : children) {
    Stmt rebuilt = rebuild(child, rewrite);
    changed |= rebuilt != child;
    child = std::move(rebuilt);
  }
  const Stmt rebuilt = changed ? with_children(stmt, std::move(children)) : stmt;
  if (!rebuilt) return nullptr;
  std::optional<Stmt> rewritten = rewrite(rebuilt);
  return rewritten ? *rewritten : rebuilt;
}

Stmt replace(const Stmt& root, const StmtNode* target, const Stmt& replacement) {
  if (root.get() == target) return replacement;
  std::vector<Stmt> children = children_of(*root);
  for (Stmt& child : children) {
    const Stmt replaced = replace(child, target, replacement);
    if (replaced == child) continue;
    child = replaced;
    return with_children(root, std::move(children));
  }
  return root;
}

Stmt substitute(const Stmt& stmt, const Substitution& substitution) {
  return rewrite_all(stmt, {nullptr, [&](const Affine& a) { return substitute(a, substitution); }}, false);
}

Stmt rewrite_expressions(const Stmt& stmt, const ExprRewriter& rewriter) {
  return rewrite_all(stmt, rewriter, true);
}

Path path_to_block(const Stmt& root, std::string_view block) {
  Path path;
  if (!root) return path;
  find_path(
      root,
      [&](const StmtNode& node) {
        const Block* candidate = std::get_if<Block>(&node.node);
        return candidate != nullptr && candidate->name == block;
      },
      path);
  return path;
}

Path path_to(const Stmt& root, const StmtNode* target) {
  Path path;
  if (root) find_path(root, [&](const StmtNode& node) { return &node == target; }, path);
  return path;
}

int64_t largest_extent(const For& loop, const Ranges& outer) {
  int64_t least = -1;
  for (const Affine& extent : loop.extents) {
    const auto interval = bounds(extent, outer);
    if (interval && (least < 0 || interval->hi < least)) least = std::max<int64_t>(interval->hi, 0);
  }
  return least;
}

Ranges ranges_of(const Path& path) {
  Ranges ranges;
  for (const Stmt& stmt : path) {
    if (const For* loop = as<For>(stmt)) {
      const int64_t extent = largest_extent(*loop, ranges);
      if (extent > 0) ranges.set_extent(loop->var, extent);
    }
  }
  return ranges;
}

std::vector<const Block*> blocks_of(const Stmt& stmt) {
  std::vector<const Block*> blocks;
  if (!stmt) return blocks;
  for_each(stmt, [&](const StmtNode& node) {
    if (const Block* block = std::get_if<Block>(&node.node)) blocks.push_back(block);
  });
  return blocks;
}

}  // namespace lathe
