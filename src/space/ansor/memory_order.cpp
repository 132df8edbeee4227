#include "space/ansor/memory_order.h"

#include <algorithm>

#include "space/rules/layouts.h"

namespace lathe {
namespace {

bool is_ready_made(const Operand& operand) { return operand.is_constant || operand.is_prepared; }

// What the results go into point by point, or they themselves.
const Compute& last_point_by_point(const Decider& decider, size_t node) {
  const auto consumer = elementwise_consumer(decider.dag, node);
  return decider.dag.computes[consumer.value_or(node)];
}

size_t innermost_dim(const Decider& decider, const Tensor& tensor) {
  return static_cast<size_t>(decider.layout_of(tensor).dims.back().dim);
}

// The longest axis that only places of constants follow plainly (the channels of a result), if it fills a
// vector; else the last.
size_t preferred_vector_axis(const Compute& compute, const Stage& stage) {
  size_t best = compute.spatial_count() - 1;
  int64_t longest = 0;
  for (const Operand& operand : stage.operands) {
    for (size_t a = 0; a < compute.spatial_count(); ++a) {
      const int64_t extent = compute.axes[a].extent;
      if (!is_ready_made(operand) || operand.dim_of_axis[a] < 0) continue;
      if (extent < stage.lanes || extent < longest) continue;
      best = a;
      longest = extent;
    }
  }
  return best;
}

// What is the same for all lanes: terms of neighbouring steps of the sum lie side by side.
void place_broadcast(Decider& decider, const Compute& compute, const Operand& operand) {
  const Tensor& tensor = operand.load->tensor;
  int dim = -1;
  int64_t longest = 0;
  for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r) {
    if (operand.digit_dim[r] < 0) continue;
    if (static_cast<size_t>(operand.digit_dim[r]) == innermost_dim(decider, tensor)) return;
    if (compute.axes[r].extent <= longest) continue;
    longest = compute.axes[r].extent;
    dim = operand.digit_dim[r];
  }
  if (dim >= 0) decider.set_layout(tensor, with_last(tensor, static_cast<size_t>(dim)));
}

void decide_tiled(Decider& decider, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  const Tensor& last = last_point_by_point(decider, stage.compute).output;
  const size_t axis =
      decider.is_open(last) ? preferred_vector_axis(compute, stage) : innermost_dim(decider, last);
  decider.set_layout(last, with_last(last, axis));
  decider.set_layout(compute.output, with_last(compute.output, axis));
  for (const Operand& operand : stage.operands) {
    if (is_ready_made(operand)) continue;
    const Tensor& tensor = operand.load->tensor;
    if (!operand.uses[axis]) {
      place_broadcast(decider, compute, operand);
    } else if (operand.step_dim[axis] >= 0) {
      decider.set_layout(tensor, with_last(tensor, static_cast<size_t>(operand.step_dim[axis])));
    }
  }
}

// A node that moves or computes single elements reads along the dimension that it writes along.
void follow_results(Decider& decider, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  if (compute.spatial_count() == 0) return;
  const size_t axis = innermost_dim(decider, compute.output);
  for (const Operand& operand : stage.operands) {
    if (is_ready_made(operand) || operand.step_dim[axis] < 0) continue;
    const Tensor& tensor = operand.load->tensor;
    decider.set_layout(tensor, with_last(tensor, static_cast<size_t>(operand.step_dim[axis])));
  }
}

// The layout in the order of the loops; dimensions that no loop follows plainly come whole, where the first
// loop is that moves in them.
Layout layout_of_tile(const Compute& compute, const Operand& operand, const NodeLoops& loops) {
  const std::vector<Affine>& index = operand.load->index;
  Layout layout;
  std::vector<bool> is_whole(index.size(), false);
  std::vector<bool> is_begun(index.size(), false);
  for (size_t i = 0; i < loops.loops.size(); ++i) {
    const NodeLoop& loop = loops.loops[i];
    const int dim = operand.dim_of_axis[loop.axis];
    const auto d = static_cast<size_t>(std::max(dim, 0));
    if (dim >= 0 && !is_whole[d]) {
      layout.dims.push_back({dim, loops.extent_inside(i, loop.axis), is_begun[d] ? loop.extent : 0, 0});
      is_begun[d] = true;
    }
    for (size_t other = 0; dim < 0 && other < index.size(); ++other) {
      if (is_begun[other] || is_whole[other] || !index[other].uses(compute.axes[loop.axis].var)) continue;
      layout.dims.push_back({static_cast<int>(other), 1, 0, 0});
      is_whole[other] = true;
    }
  }
  for (size_t d = index.size(); d-- > 0;) {
    if (!is_begun[d] && !is_whole[d]) layout.dims.insert(layout.dims.begin(), {static_cast<int>(d), 1, 0, 0});
  }
  return layout;
}

}  // namespace

void decide_layouts(Decider& decider, const std::vector<NodeOutline>& nodes) {
  const auto outline_of = [&](size_t node) {
    return std::ranges::find(nodes, decider.dag.computes[node].output->name, &NodeOutline::node)->structure;
  };
  for (size_t node = decider.dag.computes.size(); node-- > 0;) {
    if (outline_of(node) == Structure::tiled) decide_tiled(decider, decider.stages.of(node));
  }
  for (size_t node = decider.dag.computes.size(); node-- > 0;) {
    const Structure structure = outline_of(node);
    if (structure == Structure::whole || structure == Structure::along) {
      if (decider.dag.computes[node].reduction == Reduction::none)
        follow_results(decider, decider.stages.of(node));
    }
  }
}

std::vector<size_t> axis_order(const Decider& decider, const Compute& compute) {
  std::vector<size_t> order;
  const auto add = [&](size_t axis) {
    if (std::ranges::find(order, axis) == order.end()) order.push_back(axis);
  };
  for (const LayoutDim& dim : decider.layout_of(compute.output).dims) {
    // The places of a block follow at the dimension's last part.
    if (dim.divide == 1) add(static_cast<size_t>(dim.dim));
  }
  for (size_t a = 0; a < compute.axes.size(); ++a) add(a);
  return order;
}

void pack_constants(Decider& decider, const Stage& stage, const NodeLoops& loops) {
  const Compute& compute = decider.compute(stage);
  for (const Operand& operand : stage.operands) {
    const Tensor& tensor = operand.load->tensor;
    const bool is_alone = std::ranges::count_if(stage.operands, [&](const Operand& other) {
                            return other.load->tensor == tensor;
                          }) == 1;
    if (!is_ready_made(operand) || !is_alone) continue;
    const Layout layout = layout_of_tile(compute, operand, loops);
    if (operand.is_prepared) {
      decider.set_layout(tensor, layout);
    } else {
      decider.set_copy(tensor, /*is_constant=*/true, compute.output->name, layout);
    }
  }
}

}  // namespace lathe
