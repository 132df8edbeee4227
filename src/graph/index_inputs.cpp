#include "graph/index_inputs.h"

#include <algorithm>

#include "expr/integers.h"

namespace lathe {
namespace {

// Whether every value of the one integer type is one of the other type.
bool fits(DType from, DType to) {
  if (is_float(to)) return false;
  const Interval values = integers_of(from);
  const Interval room = integers_of(to);
  return room.lo <= values.lo && values.hi <= room.hi;
}

// Whether the node's result, of an operand of integers, holds every value of it and no other.
bool keeps_values(const Graph& graph, const GraphNode& node) {
  const auto dtype_of = [&](TensorId id) { return graph.tensors[id].type.dtype; };
  if (std::holds_alternative<CastOp>(node.op)) return fits(dtype_of(node.inputs[0]), dtype_of(node.output));
  return role_of(node.op) == FusionRole::view || std::holds_alternative<TransposeOp>(node.op) ||
         std::holds_alternative<ExpandOp>(node.op);
}

// The axis in which the node looks up what it reads second.
std::optional<size_t> looked_up_axis(const GraphNode& node) {
  if (const auto* op = std::get_if<GatherByOp>(&node.op)) return op->axis;
  if (const auto* op = std::get_if<GatherElementsOp>(&node.op)) return op->axis;
  return std::nullopt;
}

}  // namespace

std::optional<Interval> index_range(const Graph& graph, TensorId input) {
  std::vector<bool> holds(graph.tensors.size(), false);  // the input's values
  holds[input] = true;
  std::optional<int64_t> least;
  for (const GraphNode& node : graph.nodes) {
    if (holds[node.inputs[0]] && keeps_values(graph, node)) holds[node.output] = true;
    const std::optional<size_t> axis = looked_up_axis(node);
    if (!axis || !holds[node.inputs[1]]) continue;
    const int64_t extent = graph.tensors[node.inputs[0]].type.shape[*axis];
    least = std::min(least.value_or(extent), extent);
  }
  if (!least) return std::nullopt;
  return Interval{-*least, *least - 1};
}

}  // namespace lathe
