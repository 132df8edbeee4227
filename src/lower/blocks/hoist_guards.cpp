#include "lower/blocks/hoist_guards.h"

#include <algorithm>
#include <span>

#include "loop/walk.h"
#include "lower/map.h"

namespace lathe {
namespace {

// A statement and the conditions that stand around it for now.
struct Hoisted {
  Stmt stmt;
  std::vector<Conjunct> conditions;

  Stmt guarded() && {
    if (!stmt || conditions.empty()) return stmt;
    return make_stmt(If{std::move(conditions), std::move(stmt)});
  }
};

bool same(const Conjunct& a, const Conjunct& b) {
  return a.bound == b.bound && a.tail == b.tail && a.value == b.value;
}

bool contains(const std::vector<Conjunct>& list, const Conjunct& conjunct) {
  return std::ranges::any_of(list, [&](const Conjunct& other) { return same(other, conjunct); });
}

// Takes those for which `leaves` holds out of `from`; both keep their order.
template <class Predicate>
std::vector<Conjunct> take(std::vector<Conjunct>& from, Predicate&& leaves) {
  std::vector<Conjunct> taken;
  std::vector<Conjunct> kept;
  for (Conjunct& conjunct : from) (leaves(conjunct) ? taken : kept).push_back(std::move(conjunct));
  from = std::move(kept);
  return taken;
}

// `ending`: the buffers that end with the statement.
Hoisted hoist(const Stmt& stmt, std::span<const Tensor> ending = {});

// Whether nothing is left of what the statement does once these buffers have ended.
bool serves(const Stmt& stmt, std::span<const Tensor> ending) {
  bool writes_elsewhere = false;
  for_each(stmt, [&](const StmtNode& node) {
    const Store* store = std::get_if<Store>(&node.node);
    if (store != nullptr && std::ranges::find(ending, store->tensor) == ending.end()) writes_elsewhere = true;
  });
  return !writes_elsewhere;
}

Hoisted hoist_loop(const Stmt& stmt, const For& loop) {
  Hoisted body = hoist(loop.body);
  std::vector<Conjunct> outer =
      take(body.conditions, [&](const Conjunct& c) { return !c.value.uses(loop.var); });
  Stmt inner = std::move(body).guarded();
  if (inner == loop.body) return {stmt, std::move(outer)};
  return {make_stmt(with_body(loop, std::move(inner))), std::move(outer)};
}

Hoisted hoist_branch(const If& branch, std::span<const Tensor> ending) {
  Hoisted body = hoist(branch.body, ending);
  for (const Conjunct& conjunct : branch.conditions) {
    if (!contains(body.conditions, conjunct)) body.conditions.push_back(conjunct);
  }
  return body;
}

Hoisted hoist_seq(const Seq& seq, std::span<const Tensor> ending) {
  std::vector<Hoisted> children;
  for (const Stmt& child : seq.statements) children.push_back(hoist(child));
  // Where none of these run there is nothing to fetch ahead for, and nothing to compute.
  std::vector<const Hoisted*> served;
  for (const Hoisted& child : children) {
    if (!serves(child.stmt, ending)) served.push_back(&child);
  }
  std::vector<Conjunct> shared;
  if (!served.empty()) shared = served.front()->conditions;
  std::erase_if(shared, [&](const Conjunct& c) {
    return !std::ranges::all_of(served, [&](const Hoisted* child) { return contains(child->conditions, c); });
  });
  std::vector<Stmt> statements;
  for (Hoisted& child : children) {
    take(child.conditions, [&](const Conjunct& c) { return contains(shared, c); });
    statements.push_back(std::move(child).guarded());
  }
  return {make_seq(std::move(statements)), std::move(shared)};
}

Hoisted hoist(const Stmt& stmt, std::span<const Tensor> ending) {
  if (const For* loop = as<For>(stmt)) return hoist_loop(stmt, *loop);
  if (const If* branch = as<If>(stmt)) return hoist_branch(*branch, ending);
  if (const Seq* seq = as<Seq>(stmt)) return hoist_seq(*seq, ending);
  const Alloc* alloc = as<Alloc>(stmt);
  if (alloc == nullptr) return {stmt, {}};
  std::vector<Tensor> ending_inside(ending.begin(), ending.end());
  ending_inside.push_back(alloc->tensor);
  Hoisted body = hoist(alloc->body, ending_inside);
  return {make_stmt(Alloc{alloc->tensor, alloc->scope, alloc->layout, body.stmt}),
          std::move(body.conditions)};
}

}  // namespace

Program hoist_guards(const Program& program) {
  return map_trees(program, [](const Stmt& tree) { return hoist(tree).guarded(); });
}

}  // namespace lathe
