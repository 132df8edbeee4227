#include "lower/blocks/lower_blocks.h"

#include <algorithm>

#include "base/check.h"
#include "expr/walk.h"
#include "loop/walk.h"
#include "lower/blocks/instantiate.h"
#include "lower/blocks/known.h"
#include "lower/map.h"

namespace lathe {
namespace {

Expr updated(Reduction reduction, const Expr& old, const Expr& value) {
  switch (reduction) {
    case Reduction::none: return value;
    case Reduction::sum: return old + value;
    case Reduction::max: return max(value, old);
    case Reduction::min: return min(value, old);
    case Reduction::product: return old * value;
  }
  return value;
}

void collect_divided(const Affine& index, const std::vector<BlockAxis>& axes, std::vector<Var>& vars) {
  for (const BlockAxis& axis : axes) {
    if (index.uses_inside_atom(axis.axis.var)) collect_vars(axis.binding, vars);
  }
}

// The loops whose variables indices divide. Where the divisor divides a split's factor, simplification leaves
// no trace of the outer loop: then its iterations must start at multiples of the factor.
std::vector<Var> divided_loops(const Stmt& tree) {
  std::vector<Var> vars;
  for_each(tree, [&](const StmtNode& node) {
    const Block* block = std::get_if<Block>(&node.node);
    if (block == nullptr) return;
    for (const Affine& index : block->output_index) collect_divided(index, block->axes, vars);
    for_each(block->value, [&](const Expr& e) {
      if (const Index* index = e.as<Index>()) collect_divided(index->value, block->axes, vars);
      const Load* load = e.as<Load>();
      if (load == nullptr) return;
      for (const Affine& index : load->index) collect_divided(index, block->axes, vars);
    });
  });
  return vars;
}

bool wants_overlap(const Stmt& tree) {
  bool found = false;
  for_each(tree, [&](const StmtNode& node) {
    const Block* block = std::get_if<Block>(&node.node);
    found |= block != nullptr &&
             std::ranges::find(block->axes, Tail::overlap, &BlockAxis::tail) != block->axes.end();
  });
  return found;
}

// What `drop_padding` left of an axis that is padded is no padding.
Tail legal_tail(Tail wanted, const Affine& value, const std::vector<Var>& divided) {
  if (wanted == Tail::pad) return Tail::guard;
  const bool moves_divided = std::ranges::any_of(divided, [&](const Var& var) { return value.uses(var); });
  return wanted == Tail::overlap && moves_divided ? Tail::peel : wanted;
}

Stmt lower_block(const Block& block, const Known& known, const std::vector<Var>& divided) {
  LATHE_CHECK(!block.initialises);
  // Where the block runs its conditions hold, but for those that only save work.
  Ranges ranges = known.ranges();
  for (const Conjunct& conjunct : block.predicate) {
    if (conjunct.tail != Tail::pad)
      ranges.set_limit(simplify(conjunct.value, known.ranges()), conjunct.bound - 1);
  }
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
    const Affine unsimplified = conjunct.value;
    conjunct.value = simplify(conjunct.value, known.ranges());
    conjunct.is_neutral = false;
    if (conjunct.axis >= 0) {
      const Tail wanted = block.axes[static_cast<size_t>(conjunct.axis)].tail;
      conjunct.tail = legal_tail(wanted, unsimplified, divided);
    }
    if (!known.holds(conjunct)) guard.conditions.push_back(std::move(conjunct));
  }
  Stmt body = make_stmt(std::move(store));
  if (guard.conditions.empty()) return body;
  guard.body = body;
  return make_stmt(std::move(guard));
}

Stmt lower_tree(const Stmt& stmt, const Known& known, const std::vector<Var>& divided) {
  if (const Block* block = as<Block>(stmt)) return lower_block(*block, known, divided);
  const For* loop = as<For>(stmt);
  if (loop == nullptr)
    return map_statements(stmt, [&](const Stmt& child) { return lower_tree(child, known, divided); });
  Known inside = known;
  inside.enter(*loop);
  return map_statements(stmt, [&](const Stmt& child) { return lower_tree(child, inside, divided); });
}

}  // namespace

Program lower_blocks(const Program& program) {
  return map_trees(program, [](const Stmt& tree) {
    // Every candidate of a search comes by: the loops are looked for only where they count.
    return lower_tree(tree, Known(), wants_overlap(tree) ? divided_loops(tree) : std::vector<Var>());
  });
}

}  // namespace lathe
