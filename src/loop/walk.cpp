#include "loop/walk.h"

#include <algorithm>
#include <span>

#include "base/check.h"

namespace lathe {
namespace {

// The statements directly below a node.
std::span<const Stmt> children_of(const StmtNode& node) {
  struct Visitor {
    std::span<const Stmt> operator()(const For& s) const { return {&s.body, 1}; }
    std::span<const Stmt> operator()(const Block&) const { return {}; }
    std::span<const Stmt> operator()(const Seq& s) const { return s.statements; }
    std::span<const Stmt> operator()(const Alloc& s) const { return {&s.body, 1}; }
    std::span<const Stmt> operator()(const If& s) const { return {&s.body, 1}; }
    std::span<const Stmt> operator()(const Store&) const { return {}; }
    std::span<const Stmt> operator()(const Prefetch&) const { return {}; }
    std::span<const Stmt> operator()(const Barrier&) const { return {}; }
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
  Stmt operator()(const Barrier&) const { return self; }
};

Stmt with_children(const Stmt& stmt, std::vector<Stmt> children) {
  return std::visit(WithChildren{stmt, children}, stmt->node);
}

// The way down to the first node that matches, by reference: most nodes that a search looks at are not on it.
template <class Matches>
bool find_way(const Stmt& stmt, const Matches& matches, std::vector<const Stmt*>& way) {
  way.push_back(&stmt);
  if (matches(*stmt)) return true;
  for (const Stmt& child : children_of(*stmt)) {
    if (find_way(child, matches, way)) return true;
  }
  way.pop_back();
  return false;
}

template <class Matches>
Path find_path(const Stmt& root, const Matches& matches) {
  std::vector<const Stmt*> way;
  Path path;
  if (!root || !find_way(root, matches, way)) return path;
  path.reserve(way.size());
  for (const Stmt* stmt : way) path.push_back(*stmt);
  return path;
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
  Stmt operator()(const Barrier&) const { return self; }
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
  const std::span<const Stmt> before = children_of(*stmt);
  std::vector<Stmt> children;  // empty while none has changed
  for (size_t i = 0; i < before.size(); ++i) {
    Stmt rebuilt = rebuild(before[i], rewrite);
    if (rebuilt == before[i]) continue;
    if (children.empty()) children.assign(before.begin(), before.end());
    children[i] = std::move(rebuilt);
  }
  const Stmt rebuilt = children.empty() ? stmt : with_children(stmt, std::move(children));
  if (!rebuilt) return nullptr;
  std::optional<Stmt> rewritten = rewrite(rebuilt);
  return rewritten ? *rewritten : rebuilt;
}

Stmt replace(const Stmt& root, const StmtNode* target, const Stmt& replacement) {
  std::vector<const Stmt*> way;
  if (!find_way(root, [&](const StmtNode& node) { return &node == target; }, way)) return root;
  Stmt replaced = replacement;
  for (size_t i = way.size() - 1; i-- > 0;) {
    const std::span<const Stmt> before = children_of(**way[i]);
    std::vector<Stmt> children(before.begin(), before.end());
    children[static_cast<size_t>(way[i + 1] - before.data())] = std::move(replaced);
    replaced = with_children(*way[i], std::move(children));
  }
  return replaced;
}

Stmt substitute(const Stmt& stmt, const Substitution& substitution) {
  return rewrite_all(stmt, {nullptr, [&](const Affine& a) { return substitute(a, substitution); }}, false);
}

Stmt rewrite_expressions(const Stmt& stmt, const ExprRewriter& rewriter) {
  return rewrite_all(stmt, rewriter, true);
}

Path path_to_block(const Stmt& root, std::string_view block) {
  return find_path(root, [&](const StmtNode& node) {
    const Block* candidate = std::get_if<Block>(&node.node);
    return candidate != nullptr && candidate->name == block;
  });
}

Path path_to(const Stmt& root, const StmtNode* target) {
  return find_path(root, [&](const StmtNode& node) { return &node == target; });
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
