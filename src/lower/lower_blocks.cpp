#include "lower/lower_blocks.h"

#include "base/check.h"
#include "expr/walk.h"
#include "lower/instantiate.h"
#include "lower/known.h"
#include "lower/map.h"

namespace lathe {
namespace {

Expr updated(Reduction reduction, const Expr& old, const Expr& value) {
  switch (reduction) {
    case Reduction::none: return value;
    case Reduction::sum: return old + value;
    case Reduction::max: return max(old, value);
    case Reduction::min: return min(old, value);
  }
  return value;
}

Stmt lower_block(const Block& block, const Known& known) {
  LATHE_CHECK(!block.initialises);
  // Where the block runs its conditions hold.
  Ranges ranges = known.ranges();
  for (const Conjunct& conjunct : block.predicate) ranges.set_limit(conjunct.value, conjunct.bound - 1);
  Replacements bindings;
  for (const BlockAxis& axis : block.axes) {
    bindings.vars.emplace_back(axis.axis.var, simplify(axis.binding, ranges));
  }
  Store store{block.output, {}, {}, 0, {}};
  for (const Affine& index : block.output_index) {
    store.index.push_back(simplify(replace(index, bindings), ranges));
  }
  const Expr old = block.reduction == Reduction::none ? Expr() : load(block.output, store.index);
  const Expr value = replace(block.value, bindings);
  store.value = updated(block.reduction, old, ranges.has_limits() ? simplify_indices(value, ranges) : value);
  If guard;
  for (Conjunct conjunct : block.predicate) {
    conjunct.value = simplify(conjunct.value, known.ranges());
    if (conjunct.axis >= 0) conjunct.tail = block.axes[static_cast<size_t>(conjunct.axis)].tail;
    if (!known.holds(conjunct)) guard.conditions.push_back(std::move(conjunct));
  }
  Stmt body = make_stmt(std::move(store));
  if (guard.conditions.empty()) return body;
  guard.body = body;
  return make_stmt(std::move(guard));
}

Stmt lower_tree(const Stmt& stmt, const Known& known) {
  if (const Block* block = as<Block>(stmt)) return lower_block(*block, known);
  const For* loop = as<For>(stmt);
  if (loop == nullptr)
    return map_statements(stmt, [&](const Stmt& child) { return lower_tree(child, known); });
  Known inside = known;
  inside.enter(*loop);
  return map_statements(stmt, [&](const Stmt& child) { return lower_tree(child, inside); });
}

}  // namespace

Program lower_blocks(const Program& program) {
  return map_trees(program, [](const Stmt& tree) { return lower_tree(tree, Known()); });
}

}  // namespace lathe
