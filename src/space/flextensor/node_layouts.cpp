#include "space/flextensor/node_layouts.h"

#include <algorithm>

#include "space/rules/layouts.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

bool is_last(const Tensor& tensor, int dim) { return static_cast<size_t>(dim) + 1 == tensor->shape.size(); }

// [dim / width] [the other dimensions in their order] [dim % width]
Layout panels_along(const Tensor& tensor, int dim, int64_t width) {
  const auto d = static_cast<size_t>(dim);
  Layout layout = with_last(tensor, d);
  if (width == tensor->shape[d]) return layout;
  layout.dims.back() = {dim, 1, width, 0};
  layout.dims.insert(layout.dims.begin(), {dim, width, 0, 0});
  return layout;
}

class NodePlacer {
 public:
  NodePlacer(Decider& decider, const Stage& stage, const NodeConfig& config, const NodeNest& nest)
      : d_(decider), stage_(stage), compute_(decider.compute(stage)), config_(config), nest_(nest) {}

  void place_operand(const Operand& operand) {
    if (!nest_.vector_axis || !operand.uses[*nest_.vector_axis]) return place_elements(operand);
    const size_t axis = *nest_.vector_axis;
    const Tensor& tensor = operand.load->tensor;
    const int dim = operand.dim_of_axis[axis];
    const bool is_known = operand.is_constant || operand.is_prepared;
    if (is_known && dim >= 0 && is_read_once(tensor)) {
      const Layout panels = panels_along(tensor, dim, config_.parts[axis].back());
      if (operand.is_prepared) return d_.set_layout(tensor, panels);
      if (panels != Layout::row_major(tensor->shape.size()))
        d_.set_copy(tensor, true, compute_.output->name, panels);
    } else if (operand.step_dim[axis] >= 0 && !is_last(tensor, operand.step_dim[axis])) {
      d_.set_layout(tensor, with_innermost(tensor, {{operand.step_dim[axis], 0}}));
    }
  }

  void place_results(bool takes_results) {
    Stage stage = stage_;
    if (!takes_results) stage.epilogue.reset();
    if (!nest_.vector_axis) return;
    const size_t axis = *nest_.vector_axis;
    if (takes_results || !is_last(compute_.output, static_cast<int>(axis)))
      decide_vector_layouts(d_, stage, axis, nest_.lanes);
  }

 private:
  bool is_read_once(const Tensor& tensor) const {
    return std::ranges::count_if(stage_.operands,
                                 [&](const Operand& operand) { return operand.load->tensor == tensor; }) == 1;
  }

  // In blocks of the innermost loop over the longest axis that is reduced: its other loops then step from
  // block to block.
  void place_elements(const Operand& operand) {
    std::optional<size_t> longest;
    for (const size_t axis : loops_of(compute_, AxisKind::reduce)) {
      const bool is_longer = !longest || compute_.axes[axis].extent > compute_.axes[*longest].extent;
      if (operand.dim_of_axis[axis] >= 0 && is_longer) longest = axis;
    }
    const Tensor& tensor = operand.load->tensor;
    if (!longest || is_last(tensor, operand.dim_of_axis[*longest])) return;
    const int64_t block = nest_.innermost_extent(*longest);
    d_.set_layout(tensor, with_innermost(tensor, {{operand.dim_of_axis[*longest], block}}));
  }

  Decider& d_;
  const Stage& stage_;
  const Compute& compute_;
  const NodeConfig& config_;
  const NodeNest& nest_;
};

}  // namespace

void place_tensors(Decider& decider, const Stage& stage, const NodeConfig& config, const NodeNest& nest,
                   bool takes_results) {
  NodePlacer placer(decider, stage, config, nest);
  for (const Operand& operand : stage.operands) placer.place_operand(operand);
  placer.place_results(takes_results);
}

void place_reads(Decider& decider, const Stage& stage, size_t axis, int64_t block) {
  for (const Operand& operand : stage.operands) {
    const Tensor& tensor = operand.load->tensor;
    const int dim = operand.step_dim[axis];
    if (dim < 0 || is_last(tensor, dim)) continue;
    decider.set_layout(tensor, with_innermost(tensor, {{dim, operand.dim_of_axis[axis] < 0 ? 0 : block}}));
  }
}

NodeConfig along_memory(const Compute& compute, NodeConfig config, const Layout& layout, int64_t lanes) {
  const LayoutDim inner = layout.dims.empty() ? LayoutDim() : layout.dims.back();
  std::vector<size_t> memory;
  for (const LayoutDim& dim : layout.dims) {
    const auto axis = static_cast<size_t>(dim.dim);
    const bool is_loop = std::ranges::find(config.order, axis) != config.order.end();
    if (is_loop && std::ranges::find(memory, axis) == memory.end()) memory.push_back(axis);
  }
  config.order = memory;
  const auto axis = static_cast<size_t>(inner.dim);
  if (memory.empty() || compute.axes[axis].extent == 1) return config;
  const int64_t extent = compute.axes[axis].extent;
  const bool in_blocks = inner.modulo > 1 && extent % inner.modulo == 0;
  const int64_t tile = in_blocks ? inner.modulo : largest_divisor(extent, lanes);
  config.parts[axis] = {extent / tile, tile};
  config.innermost = axis;
  return config;
}

}  // namespace lathe
