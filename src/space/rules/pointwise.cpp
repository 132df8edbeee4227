// Rule: a stage without a reduction runs in the order of its output's memory, in vectors, outer loops
// parallel. Where vectors cannot run along its last axis, its layout is chosen so that they can.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "expr/walk.h"
#include "space/rules/rules.h"
#include "space/vector_part.h"

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
void follow_layout(Writer& writer, const Compute& compute, const Layout& layout,
                   const std::vector<size_t>& order, const VectorPart& part) {
  for (const Load* load : loads_of(compute.body)) {
    if (!load->tensor->literal.empty()) continue;
    const auto dim_of_axis = plain_dims(compute, *load);
    if (!dim_of_axis) {
      writer.set_layout(load->tensor, in_order_of_vectors(compute, *load, order, part));
      continue;
    }
    Layout followed = layout;
    for (LayoutDim& dim : followed.dims) dim.dim = (*dim_of_axis)[static_cast<size_t>(dim.dim)];
    writer.set_layout(load->tensor, followed);
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

// How many lanes vectors along a part would fill, few vectors being as good as many; nothing where they would
// run along quotients of an intermediate, whose own stage has whole axes alone.
int64_t promise_of(const Writer& writer, const Compute& compute, const VectorPart& part) {
  constexpr int64_t kEnoughVectors = 4;
  for (const Load* load : loads_of(compute.body)) {
    const auto step = vector_step(compute, *load, part);
    if (step && step->divisor > 1 && writer.is_intermediate(load->tensor)) return 0;
  }
  return std::min(compute.axes[part.axis].extent / part.divisor, kEnoughVectors * writer.lanes());
}

// A tensor whose last axis is read divided, or chooses what is read, has its layout chosen by what vectors
// can run along, where that is open: their axis, or its quotients, last, and first what chooses places, so
// that for each choice whole planes are moved.
void choose_layout(Writer& writer, const Compute& compute) {
  const std::vector<VectorPart> parts = vector_parts(compute);
  if (parts.empty() || std::ranges::find(parts, VectorPart{compute.spatial_count() - 1}) != parts.end())
    return;
  size_t preferred = 0;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (promise_of(writer, compute, parts[i]) >= promise_of(writer, compute, parts[preferred])) preferred = i;
  }
  const auto count = static_cast<int64_t>(parts.size());
  const VectorPart part = parts[static_cast<size_t>(
      writer.choose.choose_kind(compute.output->name + ".along", count, static_cast<int64_t>(preferred)))];
  Layout layout = with_quotients_last(compute.output, part.axis, part.divisor);
  const auto end = layout.dims.end() - (part.divisor > 1 ? 2 : 1);
  std::stable_partition(layout.dims.begin(), end, [&](const LayoutDim& dim) {
    return chooses_places(compute, static_cast<size_t>(dim.dim));
  });
  writer.set_layout(compute.output, layout);
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
bool is_copied_whole(const Writer& writer, const Compute& compute, const Layout& layout) {
  const LayoutDim& inner = layout.dims.back();
  const auto axis = static_cast<size_t>(inner.dim);
  if (inner.extra != 0) return false;
  return std::ranges::all_of(loads_of(compute.body), [&](const Load* load) {
    if (!load->tensor->literal.empty()) return false;
    const auto dims = plain_dims(compute, *load);
    if (!dims) return false;
    const auto dim = static_cast<size_t>((*dims)[axis]);
    const LayoutDim read = writer.layout_of(load->tensor).dims.back();
    return read == LayoutDim{static_cast<int>(dim), inner.divide, inner.modulo, 0} &&
           load->index[dim] == Affine(compute.axes[axis].var) &&
           load->tensor->shape[dim] == compute.axes[axis].extent;
  });
}

// Whether the consumer needs all of this axis at a time, wherever it stands.
bool is_needed_whole(const Writer& writer, const Compute& compute, size_t axis) {
  const Compute& consumer = writer.dag.computes[writer.dag.consumers(compute.output)[0]];
  return std::ranges::all_of(loads_of(consumer.body), [&](const Load* load) {
    return load->tensor != compute.output || std::ranges::none_of(consumer.axes, [&](const Axis& a) {
             return a.kind == AxisKind::spatial && load->index[axis].uses(a.var);
           });
  });
}

// Whether the two innermost loops run over what lies side by side. As one, vectors need not stop where a
// short axis ends.
bool may_fuse_innermost(const Writer& writer, const Compute& compute, const Layout& layout, bool is_placed,
                        const std::vector<StageLoop>& loops) {
  if (loops.size() < 2) return false;
  const StageLoop& inner = loops.back();
  const StageLoop& outer = loops[loops.size() - 2];
  if (inner.extent < 2 || outer.extent < 2 || inner.axis == outer.axis) return false;
  if (decides(compute, compute.axes[inner.axis].var) || !is_copied_whole(writer, compute, layout))
    return false;
  return !is_placed || is_needed_whole(writer, compute, inner.axis);
}

void fuse_innermost(Writer& writer, const std::string& block, std::vector<StageLoop>& loops) {
  const StageLoop inner = loops.back();
  loops.pop_back();
  StageLoop& outer = loops.back();
  writer.add(FuseStep{block, {outer.name, inner.name}});
  outer.name += "_" + inner.name;
  outer.extent *= inner.extent;
}

// What is made for its reader has loops of other lengths there.
void write_vectors(Writer& writer, const Compute& compute, bool is_placed, std::vector<StageLoop>& loops,
                   int64_t wanted) {
  const std::string& name = compute.output->name;
  StageLoop& inner = loops.back();
  VectorTile tile{std::min(std::max<int64_t>(1, ceil_div(inner.extent, writer.lanes())), wanted),
                  writer.lanes()};
  if (!is_placed) tile = vector_tile(inner.extent, writer.lanes(), wanted);
  writer.add(SplitStep{name, inner.name, {tile.vectors, tile.lanes}});
  writer.add(AnnotateStep{name, inner.name + ".1", LoopKind::unrolled});
  writer.add(AnnotateStep{name, inner.name + ".2", LoopKind::vectorized});
  inner.name += ".0";
  inner.extent = ceil_div(inner.extent, tile.size());
}

}  // namespace

Status write_pointwise(Writer& writer, const Stage& stage) {
  const Compute& compute = writer.compute(stage);
  const std::string& name = compute.output->name;
  choose_layout(writer, compute);
  const Layout layout = writer.layout_of(compute.output);
  std::vector<StageLoop> loops = loops_in_memory(compute, layout);
  if (loops.empty()) return {};
  std::vector<size_t> order;
  for (const StageLoop& loop : loops) order.push_back(loop.axis);
  follow_layout(writer, compute, layout, order, innermost_part(compute, layout));
  // Which axis is last may depend on earlier answers: what is asked must not.
  const int64_t vectors = writer.choose.choose(name + ".vectors", vector_counts(writer, compute),
                                               preferred_vectors(loops.back().extent, writer.lanes()));
  const Placement placement = choose_placement(writer, compute);
  if (placement.place == Place::inside) {
    writer.add(InlineStep{name});
    return {};
  }
  const bool is_placed = placement.place == Place::at_block;
  if (is_placed) writer.add(ComputeAtStep{name, placement.consumer, placement.loop, Scope::thread});
  for (const auto& [axis, block] : blocked_axes(compute, layout))
    writer.add(SplitStep{name, compute.axes[axis].var.name(), {block}});
  ReorderStep reorder{name, {}};
  for (const StageLoop& loop : loops) reorder.loops.push_back(loop.name);
  writer.add(reorder);
  std::set<size_t> in_vectors = {loops.back().axis};
  if (may_fuse_innermost(writer, compute, layout, is_placed, loops)) {
    in_vectors.insert(loops[loops.size() - 2].axis);
    fuse_innermost(writer, name, loops);
  }
  const bool fills_vectors = loops.back().extent >= 2;
  if (fills_vectors) {
    write_vectors(writer, compute, is_placed, loops, vectors);
    const Tail tail = is_placed || in_vectors.size() > 1 ? Tail::mask : Tail::overlap;
    for (const size_t axis : in_vectors) writer.add(TailStep{name, compute.axes[axis].var.name(), tail});
  }
  if (is_placed) return {};
  std::vector<std::pair<std::string, int64_t>> outer;
  for (const StageLoop& loop : loops) outer.emplace_back(loop.name, loop.extent);
  if (outer.size() > 1 && fills_vectors) outer.pop_back();
  const std::vector<std::string> parallel = write_parallel_if_long(writer, compute, name, outer);
  if (chooses_places(compute, order.front()))
    writer.row_blocks.emplace(name, RowLoop{parallel.front(), /*reads_beyond=*/false});
  return {};
}

}  // namespace lathe
