#include "schedule/written_nest.h"

#include <algorithm>

#include "loop/region.h"

namespace lathe {
namespace {

class Writer {
 public:
  Writer(const Located& located, size_t position);

  // The box, if the elements are one.
  std::optional<WrittenNest> box(const std::vector<std::string>& names) const;
  // Copies of the loops that the elements depend on.
  WrittenNest copied_loops() const;

 private:
  bool moves(const Affine& value, const std::vector<const For*>& loops) const;
  Affine moved_part(const Affine& value) const;
  Affine least(const Affine& value) const;
  bool limits_reduction(const Conjunct& conjunct) const;
  bool guards_domain(const Conjunct& conjunct) const;
  bool always_holds(const Conjunct& conjunct) const;
  void add_used(const Affine& value);

  const Block& block_;
  Ranges outer_;
  Ranges all_;
  std::vector<const For*> inner_;   // the loops below, outermost first
  std::vector<const For*> moving_;  // those of them that the written elements depend on
  std::vector<Affine> index_;
  std::vector<Conjunct> predicate_;  // simplified
};

Writer::Writer(const Located& located, size_t position)
    : block_(*located.block), all_(ranges_of(located.path)) {
  const auto below = located.path.begin() + static_cast<std::ptrdiff_t>(position) + 1;
  outer_ = ranges_of(Path(located.path.begin(), below));
  for (auto it = below; it != located.path.end(); ++it) {
    if (const For* loop = as<For>(*it)) inner_.push_back(loop);
  }
  Substitution bindings;
  for (const BlockAxis& axis : block_.axes) bindings.emplace_back(axis.axis.var, axis.binding);
  for (const Affine& index : block_.output_index) {
    index_.push_back(simplify(substitute(index, bindings), all_));
    add_used(index_.back());
  }
  for (Conjunct conjunct : block_.predicate) {
    if (conjunct.is_neutral) continue;
    conjunct.value = simplify(conjunct.value, all_);
    if (!limits_reduction(conjunct)) conjunct.value = least(conjunct.value);
    predicate_.push_back(std::move(conjunct));
  }
  // What a condition adds may make further conditions count.
  for (size_t pass = 0; pass < inner_.size(); ++pass) {
    for (const Conjunct& conjunct : predicate_) {
      if (!limits_reduction(conjunct)) add_used(conjunct.value);
    }
  }
}

// The least that a condition's value is for one element: one is written if any part of its sum is there.
Affine Writer::least(const Affine& value) const {
  Substitution first;
  for (const For* loop : inner_) {
    if (std::ranges::find(moving_, loop) != moving_.end() || value.uses_inside_atom(loop->var)) continue;
    const int64_t last = std::max<int64_t>(constant_extent(*loop) - 1, 0);
    first.emplace_back(loop->var, Affine(value.coefficient(loop->var) < 0 ? last : 0));
  }
  return simplify(substitute(value, first), all_);
}

// Whether a condition cuts a reduction that goes on in the loops below: what it leaves is added to every
// element.
bool Writer::limits_reduction(const Conjunct& conjunct) const {
  if (moves(conjunct.value, moving_)) return false;
  std::vector<Var> vars;
  collect_vars(conjunct.value, vars);
  return std::ranges::any_of(block_.axes, [&](const BlockAxis& axis) {
    const bool cut = std::ranges::any_of(vars, [&](const Var& var) { return axis.binding.uses(var); });
    return cut && axis.axis.kind == AxisKind::reduce && moves(axis.binding, inner_);
  });
}

bool Writer::moves(const Affine& value, const std::vector<const For*>& loops) const {
  return std::ranges::any_of(loops, [&](const For* loop) { return value.uses(loop->var); });
}

void Writer::add_used(const Affine& value) {
  for (const For* loop : inner_) {
    if (value.uses(loop->var) && std::ranges::find(moving_, loop) == moving_.end()) moving_.push_back(loop);
  }
}

// Whether a condition says no more than that one of the spatial axes stays within its domain.
bool Writer::guards_domain(const Conjunct& conjunct) const {
  return std::ranges::any_of(block_.axes, [&](const BlockAxis& axis) {
    if (axis.axis.kind != AxisKind::spatial) return false;
    const Affine binding = simplify(axis.binding, all_);
    return (conjunct.value == binding && conjunct.bound == axis.axis.extent) ||
           (conjunct.value == binding * -1 && conjunct.bound == 1);
  });
}

bool Writer::always_holds(const Conjunct& conjunct) const {
  const auto reach = bounds(conjunct.value, all_);
  return reach && reach->hi < conjunct.bound;
}

// The part of a sum that the loops below move.
Affine Writer::moved_part(const Affine& value) const {
  Affine moved;
  for (const Affine::Term& term : value.terms()) {
    const Affine part(term.atom, term.coefficient);
    if (moves(part, inner_)) moved += part;
  }
  return moved;
}

std::optional<WrittenNest> Writer::box(const std::vector<std::string>& names) const {
  WrittenNest nest;
  for (const For* loop : moving_) {
    const auto uses = std::ranges::count_if(index_, [&](const Affine& a) { return a.uses(loop->var); });
    if (uses != 1) return std::nullopt;
  }
  std::vector<Affine> moved;
  for (size_t dim = 0; dim < index_.size(); ++dim) {
    moved.push_back(moved_part(index_[dim]));
    const Affine base = simplify(index_[dim] - moved[dim], outer_);
    const auto reach = bounds(moved[dim], all_);
    if (!reach || reach->lo != 0 || !reaches_all(moved[dim], all_)) return std::nullopt;
    const auto first = bounds(base, outer_);
    int64_t extent = reach->hi + 1;
    if (first && first->lo >= 0) extent = std::min(extent, block_.output->shape[dim]);
    nest.loops.emplace_back(Var(names[dim]), extent);
    nest.index.push_back(base + Affine(nest.loops.back().first));
  }
  for (const Conjunct& conjunct : predicate_) {
    if (guards_domain(conjunct) || limits_reduction(conjunct) || always_holds(conjunct)) continue;
    Conjunct kept = conjunct;
    if (moves(conjunct.value, moving_)) {
      // A tile in tiles of its own ends where its loops do.
      const Affine part = moved_part(conjunct.value);
      const auto dim = static_cast<size_t>(std::ranges::find(moved, part) - moved.begin());
      if (dim == moved.size()) return std::nullopt;
      kept.value = conjunct.value - part + Affine(nest.loops[dim].first);
    }
    nest.conditions.push_back(std::move(kept));
  }
  return nest;
}

WrittenNest Writer::copied_loops() const {
  WrittenNest nest;
  Substitution fresh;
  for (const For* loop : inner_) {
    if (std::ranges::find(moving_, loop) == moving_.end()) continue;
    nest.loops.emplace_back(Var(loop->var.name()), constant_extent(*loop));
    fresh.emplace_back(loop->var, Affine(nest.loops.back().first));
  }
  for (const Affine& index : index_) nest.index.push_back(substitute(index, fresh));
  for (const Conjunct& conjunct : predicate_) {
    if (limits_reduction(conjunct)) continue;
    nest.conditions.push_back({substitute(conjunct.value, fresh), conjunct.bound, conjunct.axis});
  }
  return nest;
}

}  // namespace

WrittenNest written_nest(const Located& writer, size_t position, const std::vector<std::string>& names) {
  const Writer writes(writer, position);
  std::optional<WrittenNest> box = writes.box(names);
  WrittenNest nest = box ? std::move(*box) : writes.copied_loops();
  // The writer's axes are the dimensions of what it writes, and then those that it reduces over.
  const int dimensions = static_cast<int>(nest.index.size());
  for (Conjunct& conjunct : nest.conditions) {
    if (conjunct.axis >= dimensions) conjunct.axis = -1;
  }
  return nest;
}

Stmt in_loops(Block block, const std::vector<std::pair<Var, int64_t>>& loops) {
  Stmt nest = make_stmt(std::move(block));
  for (size_t i = loops.size(); i-- > 0;) {
    nest = make_stmt(For{loops[i].first, {Affine(loops[i].second)}, LoopKind::serial, nest});
  }
  return nest;
}

}  // namespace lathe
