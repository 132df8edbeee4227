#include "lower/lower_blocks.h"

#include "base/check.h"
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
  Replacements bindings;
  for (const BlockAxis& axis : block.axes) {
    bindings.vars.emplace_back(axis.axis.var, simplify(axis.binding, known.ranges()));
  }
  Store store{block.output, {}, {}, 0, {}};
  for (const Affine& index : block.output_index) {
    store.index.push_back(simplify(replace(index, bindings), known.ranges()));
  }
  const Expr old = block.reduction == Reduction::none ? Expr() : load(block.output, store.index);
  store.value = updated(block.reduction, old, replace(block.value, bindings));
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
