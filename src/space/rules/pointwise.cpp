// Rule: a stage without a reduction runs in the order of its output's memory, in vectors, outer loops
// parallel. Where vectors cannot run along its last axis, its layout is chosen so that they can.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

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

// Where a product is the only reader, or a stage that moves plane by plane, a stage may be made block by
// block, just before it is read there (Ansor's compute location), in place of once for all: it stays in the
// caches, and is made again where blocks overlap.
std::optional<ComputeAtStep> choose_place(Writer& writer, const Compute& compute) {
  const std::vector<size_t> consumers = writer.dag.consumers(compute.output);
  if (consumers.size() != 1 || writer.dag.is_output(compute.output)) return std::nullopt;
  const std::string& consumer = writer.dag.computes[consumers[0]].output->name;
  const auto block = writer.row_blocks.find(consumer);
  if (block == writer.row_blocks.end()) return std::nullopt;
  const bool by_planes = writer.dag.computes[consumers[0]].reduction == Reduction::none;
  const bool at_block = writer.choose.choose_kind(compute.output->name + ".place", 2, by_planes ? 1 : 0) != 0;
  // What is packed for the product is read before it.
  const bool is_packed = std::ranges::any_of(writer.trace, [&](const Step& step) {
    const auto* copy = std::get_if<CacheReadStep>(&step);
    return copy != nullptr && copy->tensor == compute.output->name;
  });
  if (!at_block || is_packed) return std::nullopt;
  return ComputeAtStep{compute.output->name, consumer, block->second, Scope::thread};
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

// The loops of a stage in the order of its output's memory.
struct LoopOrder {
  std::vector<size_t> axes;
  VectorPart vectors;                                  // of the last axis
  std::vector<std::pair<std::string, int64_t>> outer;  // the loops around them
};

LoopOrder order_of(const Compute& compute, const Layout& layout) {
  LoopOrder order;
  const LayoutDim& innermost = layout.dims.back();
  const auto last = static_cast<size_t>(innermost.dim);
  const bool by_quotients =
      innermost.divide > 1 && innermost.modulo == 0 && compute.axes[last].extent % innermost.divide == 0;
  order.vectors = {last, by_quotients ? innermost.divide : 1};
  for (const LayoutDim& dim : layout.dims) {
    const auto axis = static_cast<size_t>(dim.dim);
    const std::string name = compute.axes[axis].var.name();
    if (axis == last && by_quotients && dim.divide == 1) order.outer.emplace_back(name + ".1", dim.modulo);
    if (axis == last || std::ranges::find(order.axes, axis) != order.axes.end()) continue;
    order.axes.push_back(axis);
    order.outer.emplace_back(name, compute.axes[axis].extent);
  }
  order.axes.push_back(last);
  return order;
}

// Whether these dimensions, in this order, are the last of the layout, whole and without a gap.
bool ends_with_whole(const Layout& layout, const std::vector<int>& dims) {
  if (layout.dims.size() < dims.size()) return false;
  const auto last = layout.dims.end() - static_cast<std::ptrdiff_t>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const LayoutDim& dim = last[static_cast<std::ptrdiff_t>(i)];
    if (dim != LayoutDim{dims[i]}) return false;
  }
  return true;
}

// Whether the read moves through memory as the output does along these axes, its last, or not at all.
bool moves_alike(const Writer& writer, const Compute& compute, const Load& load,
                 const std::vector<size_t>& axes) {
  std::vector<int> dims;
  for (const size_t axis : axes) {
    const Var& var = compute.axes[axis].var;
    const auto place = std::ranges::find(load.index, Affine(var));
    const auto uses = [&](const Affine& index) { return index.uses(var); };
    if (place == load.index.end() || std::ranges::count_if(load.index, uses) != 1) {
      if (std::ranges::any_of(load.index, uses)) return false;
      continue;
    }
    const auto dim = place - load.index.begin();
    if (load.tensor->shape[static_cast<size_t>(dim)] != compute.axes[axis].extent) return false;
    dims.push_back(static_cast<int>(dim));
  }
  if (dims.empty()) return true;
  return dims.size() == axes.size() && ends_with_whole(writer.layout_of(load.tensor), dims);
}

// The last axes, outermost first, that can run as one loop.
std::vector<size_t> axes_in_one(const Writer& writer, const Compute& compute, const LoopOrder& order) {
  std::vector<size_t> axes = {order.vectors.axis};
  int64_t extent = compute.axes[order.vectors.axis].extent;
  for (size_t i = order.axes.size() - 1; i-- > 0 && extent % (4 * writer.lanes()) != 0;) {
    std::vector<size_t> more = axes;
    more.insert(more.begin(), order.axes[i]);
    std::vector<int> dims;
    for (const size_t axis : more) dims.push_back(static_cast<int>(axis));
    const bool is_bound = std::ranges::any_of(more, [&](size_t axis) {
      bool found = false;
      for_each(compute.body, [&](const Expr& e) {
        const Index* index = e.as<Index>();
        found |= index != nullptr && index->value.uses(compute.axes[axis].var);
      });
      return found;
    });
    const bool together = std::ranges::all_of(
        loads_of(compute.body), [&](const Load* load) { return moves_alike(writer, compute, *load, more); });
    if (is_bound || !together || !ends_with_whole(writer.layout_of(compute.output), dims)) break;
    axes = std::move(more);
    extent *= compute.axes[axes.front()].extent;
  }
  // Vectors that end inside a row would need a mask for each axis.
  const bool fits = order.vectors.divisor == 1 && extent % writer.lanes() == 0;
  return fits ? axes : std::vector<size_t>{order.vectors.axis};
}

// Makes the last axes one loop: gives its name, and takes them out of the loops around it.
std::string write_in_one(Writer& writer, const Compute& compute, const std::vector<size_t>& axes,
                         LoopOrder& order) {
  FuseStep fuse{compute.output->name, {}};
  for (const size_t axis : axes) fuse.loops.push_back(compute.axes[axis].var.name());
  writer.add(fuse);
  std::string name = fuse.loops.front();
  for (size_t i = 1; i < axes.size(); ++i) {
    name += "_" + fuse.loops[i];
    order.outer.pop_back();
  }
  return name;
}

}  // namespace

Status write_pointwise(Writer& writer, const Stage& stage) {
  const Compute& compute = writer.compute(stage);
  const std::string& name = compute.output->name;
  choose_layout(writer, compute);
  const Layout layout = writer.layout_of(compute.output);
  if (layout.dims.empty()) return {};
  LoopOrder order = order_of(compute, layout);
  const VectorPart& part = order.vectors;
  follow_layout(writer, compute, layout, order.axes, part);
  const std::vector<size_t> in_one = axes_in_one(writer, compute, order);
  int64_t extent = compute.axes[part.axis].extent / part.divisor;
  for (size_t i = 0; i + 1 < in_one.size(); ++i) extent *= compute.axes[in_one[i]].extent;
  // Which axis is last may depend on earlier answers: what is asked must not.
  const int64_t wanted = writer.choose.choose(name + ".vectors", vector_counts(writer, compute),
                                              preferred_vectors(extent, writer.lanes()));
  const std::string axis_name = compute.axes[part.axis].var.name();
  const std::optional<ComputeAtStep> place = choose_place(writer, compute);
  if (place) writer.add(*place);
  std::string vector_loop = axis_name;
  if (part.divisor > 1) {
    writer.add(SplitStep{name, axis_name, {part.divisor}});
    vector_loop += ".0";
  }
  ReorderStep reorder{name, {}};
  for (const auto& [loop, count] : order.outer) reorder.loops.push_back(loop);
  reorder.loops.push_back(vector_loop);
  writer.add(reorder);
  if (in_one.size() > 1) vector_loop = write_in_one(writer, compute, in_one, order);
  if (extent >= 2) {
    const VectorTile tile = vector_tile(extent, writer.lanes(), wanted);
    writer.add(SplitStep{name, vector_loop, {tile.vectors, tile.lanes}});
    if (order.outer.empty()) order.outer.emplace_back(vector_loop + ".0", ceil_div(extent, tile.size()));
    writer.add(AnnotateStep{name, vector_loop + ".1", LoopKind::unrolled});
    writer.add(AnnotateStep{name, vector_loop + ".2", LoopKind::vectorized});
    writer.add(TailStep{name, axis_name, Tail::overlap});
  }
  if (place) return {};
  const std::vector<std::string> loops = write_parallel(writer, name, order.outer);
  if (chooses_places(compute, order.axes.front())) writer.row_blocks.emplace(name, loops.front());
  return {};
}

}  // namespace lathe
