#include "graph/index_inputs.h"

#include <algorithm>

namespace lathe {
namespace {

// Whether every value of the one integer type is one of the other type.
bool fits(DType from, DType to) {
  if (is_float(to)) return false;
  return from == DType::boolean || holds_numbers_of(to, from);
}

// Whether the node's result, of an operand of integers, holds every value of it and no other.
bool keeps_values(const Graph& graph, const GraphNode& node) {
  const auto dtype_of = [&](TensorId id) { return graph.tensors[id].type.dtype; };
  if (std::holds_alternative<CastOp>(node.op)) return fits(dtype_of(node.inputs[0]), dtype_of(node.output));
  return role_of(node.op) == FusionRole::view || std::holds_alternative<TransposeOp>(node.op) ||
         std::holds_alternative<ExpandOp>(node.op);
}

// A tensor of the values of an input, but for one value, in whose place another stands.
struct Held {
  std::optional<int64_t> replaced;
};
using HeldValues = std::vector<std::optional<Held>>;  // for each tensor

// The one value of a constant.
std::optional<int64_t> single_integer(const GraphTensor& tensor) {
  if (!tensor.is_constant() || elements_of(tensor.type.shape) != 1) return std::nullopt;
  return static_cast<int64_t>(values_of(tensor).front());
}

// The value that a constant takes the place of where the node is Where(Equal(values, value), constant,
// values).
std::optional<int64_t> replaced_value(const Graph& graph, const GraphNode& node, const HeldValues& held) {
  if (!std::holds_alternative<WhereOp>(node.op) || !graph.tensors[node.inputs[1]].is_constant()) return {};
  const auto are_plain = [&](TensorId id) { return held[id] && !held[id]->replaced; };
  if (!are_plain(node.inputs[2])) return {};
  const auto compares = [&](const GraphNode& other) { return other.output == node.inputs[0]; };
  const auto condition = std::ranges::find_if(graph.nodes, compares);
  if (condition == graph.nodes.end() || condition->op != GraphOp(ZipOp{ZipFunction::equal})) return {};
  if (!are_plain(condition->inputs[0])) return {};
  return single_integer(graph.tensors[condition->inputs[1]]);
}

// What the node's result has of the values.
std::optional<Held> held_by(const Graph& graph, const GraphNode& node, const HeldValues& held) {
  if (const std::optional<Held>& values = held[node.inputs[0]]; values && keeps_values(graph, node))
    return values;
  if (const auto value = replaced_value(graph, node, held)) return Held{value};
  return std::nullopt;
}

}  // namespace

std::optional<size_t> looked_up_axis(const GraphOp& op) {
  if (const auto* gather = std::get_if<GatherByOp>(&op)) return gather->axis;
  if (const auto* gather = std::get_if<GatherElementsOp>(&op)) return gather->axis;
  return std::nullopt;
}

std::optional<Interval> index_range(const Graph& graph, TensorId input) {
  HeldValues held(graph.tensors.size());
  held[input] = Held{};
  std::optional<Interval> range;
  for (const GraphNode& node : graph.nodes) {
    if (const auto values = held_by(graph, node, held)) held[node.output] = values;
    const std::optional<size_t> axis = looked_up_axis(node.op);
    if (!axis || !held[node.inputs[1]]) continue;
    const int64_t extent = graph.tensors[node.inputs[0]].type.shape[*axis];
    const int64_t replaced = held[node.inputs[1]]->replaced.value_or(0);
    const Interval places{std::min(-extent, replaced), std::max(extent - 1, replaced)};
    range = range ? Interval{std::max(range->lo, places.lo), std::min(range->hi, places.hi)} : places;
  }
  return range;
}

}  // namespace lathe
