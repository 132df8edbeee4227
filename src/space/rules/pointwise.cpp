// Rule: a stage without a reduction runs in the order of its output's memory, in vectors, outer loops
// parallel.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "expr/walk.h"
#include "space/rules/rules.h"

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

// Inputs whose layout is free take the output's order, so that neighbouring outputs read neighbouring inputs:
// dimension by dimension where indices are axes plus a constant.
void follow_layout(Writer& writer, const Compute& compute, const Layout& layout,
                   const std::vector<size_t>& order) {
  for (const Load* load : loads_of(compute.body)) {
    if (!load->tensor->literal.empty()) continue;
    const auto dim_of_axis = plain_dims(compute, *load);
    if (!dim_of_axis) {
      writer.set_layout(load->tensor, in_order_of_loops(compute, *load, order));
      continue;
    }
    Layout followed = layout;
    for (LayoutDim& dim : followed.dims) dim.dim = (*dim_of_axis)[static_cast<size_t>(dim.dim)];
    writer.set_layout(load->tensor, followed);
  }
}

// Where a product is the only reader, a stage may be made block by block, just before it is read there
// (Ansor's compute location), in place of once for all: it stays in the caches, and is made again where
// blocks overlap.
std::optional<ComputeAtStep> choose_place(Writer& writer, const Compute& compute) {
  const std::vector<size_t> consumers = writer.dag.consumers(compute.output);
  if (consumers.size() != 1 || writer.dag.is_output(compute.output)) return std::nullopt;
  const std::string& consumer = writer.dag.computes[consumers[0]].output->name;
  const auto block = writer.row_blocks.find(consumer);
  if (block == writer.row_blocks.end()) return std::nullopt;
  const bool at_block = writer.choose.choose_kind(compute.output->name + ".place", 2, 0) != 0;
  // What is packed for the product is read before it.
  const bool is_packed = std::ranges::any_of(writer.trace, [&](const Step& step) {
    const auto* copy = std::get_if<CacheReadStep>(&step);
    return copy != nullptr && copy->tensor == compute.output->name;
  });
  if (!at_block || is_packed) return std::nullopt;
  return ComputeAtStep{compute.output->name, consumer, block->second, Scope::thread};
}

}  // namespace

Status write_pointwise(Writer& writer, const Stage& stage) {
  const Compute& compute = writer.compute(stage);
  const std::string& name = compute.output->name;
  const Layout layout = writer.layout_of(compute.output);
  std::vector<size_t> order;
  for (const LayoutDim& dim : layout.dims) {
    const auto axis = static_cast<size_t>(dim.dim);
    if (std::ranges::find(order, axis) == order.end()) order.push_back(axis);
  }
  if (order.empty()) return {};
  // A blocked layout ends with the blocked axis.
  const auto last = static_cast<size_t>(layout.dims.back().dim);
  std::erase(order, last);
  order.push_back(last);
  follow_layout(writer, compute, layout, order);
  const int64_t lanes = writer.lanes();
  const int64_t extent = compute.axes[last].extent;
  const int64_t most = std::max<int64_t>(1, ceil_div(extent, lanes));
  // Which axis is last may depend on earlier answers: what is asked must not.
  const int64_t vectors =
      std::min(most, writer.choose.choose(name + ".vectors", vector_counts(writer, compute), 1));
  const std::string vector_loop = compute.axes[last].var.name();
  const std::optional<ComputeAtStep> place = choose_place(writer, compute);
  if (place) writer.add(*place);
  ReorderStep reorder{name, {}};
  for (size_t axis : order) reorder.loops.push_back(compute.axes[axis].var.name());
  writer.add(reorder);
  std::vector<std::pair<std::string, int64_t>> outer;
  for (size_t axis : order) {
    if (axis != last) outer.emplace_back(compute.axes[axis].var.name(), compute.axes[axis].extent);
  }
  if (extent >= 2) {
    writer.add(SplitStep{name, vector_loop, {vectors, lanes}});
    if (outer.empty()) outer.emplace_back(vector_loop + ".0", ceil_div(extent, vectors * lanes));
    writer.add(AnnotateStep{name, vector_loop + ".1", LoopKind::unrolled});
    writer.add(AnnotateStep{name, vector_loop + ".2", LoopKind::vectorized});
    writer.add(TailStep{name, vector_loop, Tail::mask});
  }
  if (!place) write_parallel(writer, name, outer);
  return {};
}

}  // namespace lathe
