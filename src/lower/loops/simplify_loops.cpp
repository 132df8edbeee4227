#include "lower/loops/simplify_loops.h"

#include <algorithm>

#include "loop/walk.h"
#include "lower/arithmetic/fold_arithmetic.h"
#include "lower/blocks/instantiate.h"
#include "lower/map.h"

namespace lathe {
namespace {

// Whether `tensor` is loaded outside of the stores to itself.
bool is_read(const Stmt& stmt, const Tensor& tensor) {
  bool found = false;
  for_each(stmt, [&](const StmtNode& node) {
    const Store* store = std::get_if<Store>(&node.node);
    if (found || store == nullptr || store->tensor == tensor) return;
    for_each(store->value, [&](const Expr& e) {
      const Load* load = e.as<Load>();
      found |= load != nullptr && load->tensor == tensor;
    });
  });
  return found;
}

Stmt without_stores(const Stmt& stmt, const Tensor& tensor) {
  const Store* store = as<Store>(stmt);
  if (store != nullptr) return store->tensor == tensor ? nullptr : stmt;
  const Prefetch* prefetch = as<Prefetch>(stmt);
  if (prefetch != nullptr) return prefetch->tensor == tensor ? nullptr : stmt;
  return map_statements(stmt, [&](const Stmt& child) { return without_stores(child, tensor); });
}

class Simplifier {
 public:
  Stmt visit(const Stmt& stmt, const Known& known) {
    if (const For* loop = as<For>(stmt)) return visit_loop(stmt, *loop, known);
    if (const If* branch = as<If>(stmt)) return visit_branch(stmt, *branch, known);
    if (const Store* store = as<Store>(stmt)) return visit_store(stmt, *store, known);
    if (const Alloc* alloc = as<Alloc>(stmt)) return visit_alloc(stmt, *alloc, known);
    if (const Prefetch* prefetch = as<Prefetch>(stmt)) {
      return units_.empty() ? stmt : make_stmt(replace(*prefetch, units_));
    }
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, known); });
  }

 private:
  // The extents without those that another one or the ranges make redundant; a constant comes first.
  std::vector<Affine> least(const std::vector<Affine>& extents, const Known& known) const {
    std::optional<int64_t> constant;
    std::vector<Affine> others;
    for (const Affine& extent : extents) {
      const Affine value = simplify(replace(extent, units_), known.ranges());
      if (value.is_constant()) {
        constant = std::min(constant.value_or(value.constant()), value.constant());
      } else if (std::ranges::find(others, value) == others.end()) {
        others.push_back(value);
      }
    }
    if (constant) {
      if (*constant <= 0) return {Affine(0)};
      std::erase_if(others, [&](const Affine& other) { return known.at_most(other * -1, -*constant); });
      others.insert(others.begin(), Affine(*constant));
    }
    const bool never = std::ranges::any_of(others, [&](const Affine& e) { return known.at_most(e, 0); });
    return never ? std::vector<Affine>{Affine(0)} : others;
  }

  Stmt visit_loop(const Stmt& stmt, const For& loop, const Known& known) {
    std::vector<Affine> extents = least(loop.extents, known);
    if (extents.size() == 1 && extents[0].is(0)) return nullptr;
    if (extents.size() == 1 && extents[0].is(1)) {
      units_.vars.emplace_back(loop.var, Affine(0));
      Stmt body = visit(loop.body, known);
      units_.vars.pop_back();
      return body;
    }
    For result = loop;
    result.extents = std::move(extents);
    Known inside = known;
    inside.enter(result);
    result.body = visit(loop.body, inside);
    if (!result.body) return nullptr;
    if (result.body == loop.body && result.extents == loop.extents) return stmt;
    return make_stmt(std::move(result));
  }

  Stmt visit_branch(const Stmt& stmt, const If& branch, const Known& known) {
    If result;
    Known inside = known;
    for (Conjunct& conjunct : replace(branch.conditions, units_)) {
      conjunct.value = simplify(conjunct.value, known.ranges());
      if (inside.holds(conjunct)) continue;
      if (inside.fails(conjunct)) return nullptr;
      inside.assume(conjunct);
      result.conditions.push_back(std::move(conjunct));
    }
    result.body = visit(branch.body, inside);
    if (!result.body || result.conditions.empty()) return result.body;
    const bool same =
        units_.empty() && result.body == branch.body && result.conditions.size() == branch.conditions.size();
    return same ? stmt : make_stmt(std::move(result));
  }

  Stmt visit_store(const Stmt& stmt, const Store& store, const Known& known) const {
    if (!units_.empty()) {
      Store result = replace(store, units_);
      result.value = fold(result.value, known);
      return make_stmt(std::move(result));
    }
    Expr value = fold(store.value, known);
    if (value.get() == store.value.get()) return stmt;
    return make_stmt(Store{store.tensor, store.index, std::move(value), store.stride, store.mask});
  }

  Stmt visit_alloc(const Stmt& stmt, const Alloc& alloc, const Known& known) {
    Stmt body = visit(alloc.body, known);
    if (body && !is_read(body, alloc.tensor)) return without_stores(body, alloc.tensor);
    if (!body || body == alloc.body) return body ? stmt : nullptr;
    return make_stmt(Alloc{alloc.tensor, alloc.scope, alloc.layout, std::move(body)});
  }

  Replacements units_;  // the variables of loops with one iteration
};

}  // namespace

Stmt simplify_loops(const Stmt& stmt, const Known& known) { return Simplifier().visit(stmt, known); }

Program simplify_loops(const Program& program) {
  return map_trees(program, [](const Stmt& tree) { return simplify_loops(tree, Known()); });
}

}  // namespace lathe
