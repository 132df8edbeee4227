#include "space/rules/pointwise.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/vector_part.h"
#include "expr/walk.h"

namespace lathe {
namespace {

// Each dimension of a read is one axis plus a constant: the axes' dimensions, or nothing.
std::optional<std::vector<int>> plain_dims(const Compute& compute, const Load& load) {
  std::vector<int> dim_of_axis(compute.spatial_count(), -1);
  if (load.index.size() != compute.spatial_count()) return std::nullopt;
  for (size_t d = 0; d < load.index.size(); ++d) {
    for (size_t a = 0; a < compute.spatial_count(); ++a) {
      if ((load.index[d] - load.index[d].constant()) == Affine(compute.axes[a].var))
        dim_of_axis[a] = static_cast<int>(d);
    }
  }
  if (std::ranges::find(dim_of_axis, -1) != dim_of_axis.end()) return std::nullopt;
  return dim_of_axis;
}

// A read's dimensions in the order of the innermost loops that each moves with.
Layout in_order_of_loops(const Compute& compute, const Load& load, const std::vector<size_t>& order) {
  std::vector<int> dims(load.index.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::ranges::stable_sort(dims, {}, [&](int dim) {
    size_t innermost = 0;
    for (size_t place = 0; place < order.size(); ++place) {
      if (load.index[static_cast<size_t>(dim)].uses(compute.axes[order[place]].var)) innermost = place + 1;
    }
    return innermost;
  });
  return Layout::permuted(dims);
}

// That, but what moves with the vectors last.
Layout in_order_of_vectors(const Compute& compute, const Load& load, const std::vector<size_t>& order,
                           const VectorPart& part) {
  Layout layout = in_order_of_loops(compute, load, order);
  const auto step = vector_step(compute, load, part);
  if (!step || !step->dim) return layout;
  std::erase_if(layout.dims, [&](const LayoutDim& dim) { return dim.dim == static_cast<int>(*step->dim); });
  const Layout last = with_quotients_last(load.tensor, *step->dim, step->divisor);
  const auto parts = static_cast<std::ptrdiff_t>(step->divisor > 1 ? 2 : 1);
  layout.dims.insert(layout.dims.end(), last.dims.end() - parts, last.dims.end());
  return layout;
}

// Inputs whose layout is free take the output's order, so that neighbouring outputs read neighbouring inputs:
// dimension by dimension where indices are axes plus a constant.
void follow_layout(Decider& decider, const Compute& compute, const Layout& layout,
                   const std::vector<size_t>& order, const VectorPart& part) {
  for (const Load* load : loads_of(compute.body)) {
    if (!load->tensor->literal.empty()) continue;
    const auto dim_of_axis = plain_dims(compute, *load);
    if (!dim_of_axis) {
      decider.set_layout(load->tensor, in_order_of_vectors(compute, *load, order, part));
      continue;
    }
    Layout followed = layout;
    for (LayoutDim& dim : followed.dims) dim.dim = (*dim_of_axis)[static_cast<size_t>(dim.dim)];
    decider.set_layout(load->tensor, followed);
  }
}

// Whether the value of an index at run time depends on what a tensor holds at this variable.
bool is_chosen_by(const Affine& index, const Var& var) {
  return std::ranges::any_of(index.terms(), [&](const Affine::Term& term) {
    switch (term.atom->kind) {
      case AtomKind::variable: return false;
      case AtomKind::opaque: return uses(*term.atom->opaque, var);
      case AtomKind::floor_div:
      case AtomKind::modulo: return is_chosen_by(term.atom->operand, var);
    }
    return false;
  });
}

// Whether an axis decides at run time which places are read.
bool chooses_places(const Compute& compute, size_t axis) {
  return std::ranges::any_of(loads_of(compute.body), [&](const Load* load) {
    return std::ranges::any_of(
        load->index, [&](const Affine& index) { return is_chosen_by(index, compute.axes[axis].var); });
  });
}

// How many places vectors along a part would cover; nothing where they would run along quotients of an
// intermediate, whose own stage has whole axes alone.
int64_t promise_of(const Analysis& analysis, const Compute& compute, const VectorPart& part) {
  for (const Load* load : loads_of(compute.body)) {
    const auto step = vector_step(compute, *load, part);
    if (step && step->divisor > 1 && analysis.is_intermediate(load->tensor)) return 0;
  }
  return compute.axes[part.axis].extent / part.divisor;
}

// A tensor whose last axis is read divided, or chooses what is read, has its layout chosen by what vectors
// can run along, where that is open: their axis, or its quotients, last, and first what chooses places, so
// that for each choice whole planes are moved.
void decide_layout(Decider& decider, const Compute& compute) {
  const std::vector<VectorPart> parts = vector_parts(compute);
  if (parts.empty() || std::ranges::find(parts, VectorPart{compute.spatial_count() - 1}) != parts.end())
    return;
  size_t preferred = 0;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (promise_of(decider, compute, parts[i]) >= promise_of(decider, compute, parts[preferred]))
      preferred = i;
  }
  const auto count = static_cast<int64_t>(parts.size());
  const VectorPart part = parts[static_cast<size_t>(
      decider.choose.choose_kind(compute.output->name + ".along", count, static_cast<int64_t>(preferred)))];
  Layout layout = with_quotients_last(compute.output, part.axis, part.divisor);
  const auto end = layout.dims.end() - (part.divisor > 1 ? 2 : 1);
  std::stable_partition(layout.dims.begin(), end, [&](const LayoutDim& dim) {
    return chooses_places(compute, static_cast<size_t>(dim.dim));
  });
  decider.set_layout(compute.output, layout);
}

// A loop of the stage: an axis, or the part of one that a dimension of memory holds.
struct StageLoop {
  size_t axis = 0;
  std::string name;
  int64_t extent = 1;
};

// The axes that memory holds in two parts of full blocks, and the blocks' sizes.
std::map<size_t, int64_t> blocked_axes(const Compute& compute, const Layout& layout) {
  std::map<size_t, int64_t> blocks;
  for (const LayoutDim& dim : layout.dims) {
    const auto axis = static_cast<size_t>(dim.dim);
    const auto parts = std::ranges::count(layout.dims, dim.dim, &LayoutDim::dim);
    if (parts == 2 && dim.modulo != 0 && compute.axes[axis].extent % dim.modulo == 0)
      blocks.emplace(axis, dim.modulo);
  }
  return blocks;
}

// The loops in the order of memory, outermost first.
std::vector<StageLoop> loops_in_memory(const Compute& compute, const Layout& layout) {
  const std::map<size_t, int64_t> blocks = blocked_axes(compute, layout);
  std::vector<StageLoop> loops;
  for (const LayoutDim& dim : layout.dims) {
    const auto axis = static_cast<size_t>(dim.dim);
    const Axis& whole = compute.axes[axis];
    const auto block = blocks.find(axis);
    if (block != blocks.end()) {
      const bool inner = dim.modulo != 0;
      const int64_t extent = inner ? block->second : whole.extent / block->second;
      loops.push_back({axis, whole.var.name() + (inner ? ".1" : ".0"), extent});
      continue;
    }
    // An axis in other parts goes where the last of them lies.
    std::erase_if(loops, [&](const StageLoop& loop) { return loop.axis == axis; });
    loops.push_back({axis, whole.var.name(), whole.extent});
  }
  return loops;
}

// What memory holds innermost: an axis, or the quotients of one.
VectorPart innermost_part(const Compute& compute, const Layout& layout) {
  const LayoutDim& inner = layout.dims.back();
  const auto axis = static_cast<size_t>(inner.dim);
  const bool by_quotients =
      inner.divide > 1 && inner.modulo == 0 && compute.axes[axis].extent % inner.divide == 0;
  return {axis, by_quotients ? inner.divide : 1};
}

// Whether selects decide by this variable.
bool decides(const Compute& compute, const Var& var) {
  bool found = false;
  for_each(compute.body, [&](const Expr& e) {
    const Select* select = e.as<Select>();
    found |= select != nullptr && uses(select->condition, var);
  });
  return found;
}

// Whether what lies innermost is read as it is written: the same places, side by side in the same way.
bool is_copied_whole(const Decider& decider, const Compute& compute, const Layout& layout) {
  const LayoutDim& inner = layout.dims.back();
  const auto axis = static_cast<size_t>(inner.dim);
  if (inner.extra != 0) return false;
  return std::ranges::all_of(loads_of(compute.body), [&](const Load* load) {
    if (!load->tensor->literal.empty()) return false;
    const auto dims = plain_dims(compute, *load);
    if (!dims) return false;
    const auto dim = static_cast<size_t>((*dims)[axis]);
    const LayoutDim read = decider.layout_of(load->tensor).dims.back();
    return read == LayoutDim{static_cast<int>(dim), inner.divide, inner.modulo, 0} &&
           load->index[dim] == Affine(compute.axes[axis].var) &&
           load->tensor->shape[dim] == compute.axes[axis].extent;
  });
}

// Whether the consumer needs all of this axis at a time, wherever it stands.
bool is_needed_whole(const Analysis& analysis, const Compute& compute, size_t axis) {
  const Compute& consumer = analysis.dag.computes[analysis.dag.consumers(compute.output)[0]];
  return std::ranges::all_of(loads_of(consumer.body), [&](const Load* load) {
    return load->tensor != compute.output || std::ranges::none_of(consumer.axes, [&](const Axis& a) {
             return a.kind == AxisKind::spatial && load->index[axis].uses(a.var);
           });
  });
}

// Whether the two innermost loops run over what lies side by side. As one, vectors need not stop where a
// short axis ends.
bool may_fuse_innermost(const Decider& decider, const Compute& compute, const Layout& layout, bool is_placed,
                        const std::vector<StageLoop>& loops) {
  if (loops.size() < 2) return false;
  const StageLoop& inner = loops.back();
  const StageLoop& outer = loops[loops.size() - 2];
  if (inner.extent < 2 || outer.extent < 2 || inner.axis == outer.axis) return false;
  if (decides(compute, compute.axes[inner.axis].var) || !is_copied_whole(decider, compute, layout))
    return false;
  return !is_placed || is_needed_whole(decider, compute, inner.axis);
}

// What is made for its reader has loops of other lengths there.
VectorTile decide_tile(const Decider& decider, const StageLoop& inner, bool is_placed, int64_t wanted) {
  if (!is_placed) return vector_tile(inner.extent, decider.lanes(), wanted);
  const int64_t there = std::max<int64_t>(1, ceil_div(inner.extent, decider.lanes()));
  return {std::min(there, wanted), decider.lanes()};
}

// The innermost loops as one; gives the names of both.
std::vector<std::string> fuse_innermost(std::vector<StageLoop>& loops) {
  const StageLoop inner = loops.back();
  loops.pop_back();
  StageLoop& outer = loops.back();
  std::vector<std::string> fused = {outer.name, inner.name};
  outer.name += "_" + inner.name;
  outer.extent *= inner.extent;
  return fused;
}

// Of the loops in the order of memory, which become those of the vectors' tiles.
void decide_vectors(const Decider& decider, const Compute& compute, const Layout& layout, int64_t vectors,
                    std::vector<StageLoop>& loops, PointwiseDecision& decision) {
  const bool is_placed = decision.placement.place == Place::at_block;
  std::set<size_t> in_vectors = {loops.back().axis};
  if (may_fuse_innermost(decider, compute, layout, is_placed, loops)) {
    in_vectors.insert(loops[loops.size() - 2].axis);
    decision.fused = fuse_innermost(loops);
  }
  StageLoop& inner = loops.back();
  if (inner.extent < 2) return;
  decision.vector_loop = inner.name;
  decision.tile = decide_tile(decider, inner, is_placed, vectors);
  decision.tail = is_placed || in_vectors.size() > 1 ? Tail::mask : Tail::overlap;
  for (const size_t axis : in_vectors) decision.vector_axes.push_back(compute.axes[axis].var.name());
  inner.name += ".0";
  inner.extent = ceil_div(inner.extent, decision.tile.size());
}

void write_vectors(Writer& writer, const PointwiseDecision& decision) {
  const std::string& loop = decision.vector_loop;
  writer.add(SplitStep{decision.block, loop, {decision.tile.vectors, decision.tile.lanes}});
  writer.add(AnnotateStep{decision.block, loop + ".1", LoopKind::unrolled});
  writer.add(AnnotateStep{decision.block, loop + ".2", LoopKind::vectorized});
  for (const std::string& axis : decision.vector_axes)
    writer.add(TailStep{decision.block, axis, decision.tail});
}

}  // namespace

PointwiseDecision decide_pointwise(Decider& decider, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  PointwiseDecision decision{.block = compute.output->name};
  decide_layout(decider, compute);
  const Layout layout = decider.layout_of(compute.output);
  std::vector<StageLoop> loops = loops_in_memory(compute, layout);
  if (!loops.empty()) {
    std::vector<size_t> order;
    for (const StageLoop& loop : loops) {
      order.push_back(loop.axis);
      decision.order.push_back(loop.name);
    }
    follow_layout(decider, compute, layout, order, innermost_part(compute, layout));
    // Which axis is last may depend on earlier answers: what is asked must not.
    const int64_t vectors =
        decider.choose.choose(decision.block + ".vectors", vector_counts(decider, compute),
                              preferred_vectors(decider, loops.back().extent));
    decision.placement = decide_placement(decider, compute);
    for (const auto& [axis, block] : blocked_axes(compute, layout))
      decision.splits.emplace_back(compute.axes[axis].var.name(), block);
    decide_vectors(decider, compute, layout, vectors, loops, decision);
    OuterLoops outer;
    for (const StageLoop& loop : loops) outer.emplace_back(loop.name, loop.extent);
    if (outer.size() > 1 && !decision.vector_loop.empty()) outer.pop_back();
    decision.outer = share_loops_if_long(decider, compute, outer);
    if (decision.placement.place == Place::whole && chooses_places(compute, order.front()))
      decider.row_loops.emplace(decision.block, RowLoop{decision.outer.names.front()});
  }
  decision.places = decider.take_places();
  return decision;
}

void write_pointwise(Writer& writer, const PointwiseDecision& decision) {
  const auto& [place, consumer, loop] = decision.placement;
  write_places(writer, decision.places);
  if (decision.order.empty()) return;
  if (place == Place::inside) {
    writer.add(InlineStep{decision.block});
    return;
  }
  if (place == Place::at_block) writer.add(ComputeAtStep{decision.block, consumer, loop, Scope::thread});
  for (const auto& [axis, block] : decision.splits) writer.add(SplitStep{decision.block, axis, {block}});
  writer.add(ReorderStep{decision.block, decision.order});
  if (!decision.fused.empty()) writer.add(FuseStep{decision.block, decision.fused});
  if (!decision.vector_loop.empty()) write_vectors(writer, decision);
  if (place == Place::whole) write_shared(writer, decision.block, decision.outer);
}

}  // namespace lathe
