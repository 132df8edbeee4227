#include "graph/index_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe {
namespace {

// Beyond it a double does not hold each integer.
constexpr double kLargestExact = 9007199254740992.0;
constexpr Interval kAll = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

// The one value of a constant; none where it is no integer, or none that a double holds.
std::optional<int64_t> single_integer(const GraphTensor& tensor) {
  if (!tensor.is_constant() || elements_of(tensor.type.shape) != 1) return std::nullopt;
  const double value = values_of(tensor).front();
  if (std::abs(value) > kLargestExact || value != std::floor(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

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

const GraphNode* producer_of(const Graph& graph, TensorId id) {
  const auto node = std::ranges::find(graph.nodes, id, &GraphNode::output);
  return node == graph.nodes.end() ? nullptr : &*node;
}

// The tensor whose one element this one is, as it is.
TensorId source_of(const Graph& graph, TensorId id) {
  const GraphNode* node = producer_of(graph, id);
  while (node != nullptr && role_of(node->op) == FusionRole::view) {
    id = node->inputs[0];
    node = producer_of(graph, id);
  }
  return id;
}

bool is_input(const Graph& graph, TensorId id) {
  return std::ranges::find(graph.inputs, id) != graph.inputs.end();
}

// The same comparison with its operands exchanged.
ZipFunction mirrored(ZipFunction function) {
  switch (function) {
    case ZipFunction::less: return ZipFunction::greater;
    case ZipFunction::less_equal: return ZipFunction::greater_equal;
    case ZipFunction::greater: return ZipFunction::less;
    case ZipFunction::greater_equal: return ZipFunction::less_equal;
    default: return function;
  }
}

// The integers that compare so with a constant.
std::optional<Interval> values_where(ZipFunction function, int64_t constant, bool truth) {
  const Interval below{kAll.lo, constant - 1}, up_to{kAll.lo, constant}, from{constant, kAll.hi},
      beyond{constant + 1, kAll.hi};
  switch (function) {
    case ZipFunction::equal: return truth ? std::optional(Interval{constant, constant}) : std::nullopt;
    case ZipFunction::less: return truth ? below : from;
    case ZipFunction::less_equal: return truth ? up_to : beyond;
    case ZipFunction::greater: return truth ? beyond : up_to;
    case ZipFunction::greater_equal: return truth ? from : below;
    default: return std::nullopt;
  }
}

std::optional<RequiredValues> values_of_comparison(const Graph& graph, const GraphNode& node,
                                                   ZipFunction function, bool truth) {
  for (const size_t side : {0, 1}) {
    const TensorId input = source_of(graph, node.inputs[side]);
    const std::optional<int64_t> constant = single_integer(graph.tensors[node.inputs[1 - side]]);
    if (!constant || !is_input(graph, input) || is_float(graph.tensors[input].type.dtype)) continue;
    const auto values = values_where(side == 0 ? function : mirrored(function), *constant, truth);
    if (values) return RequiredValues{graph.tensors[input].name, *values};
  }
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
  const auto narrow = [&](const Interval& values) {
    range = range ? Interval{std::max(range->lo, values.lo), std::min(range->hi, values.hi)} : values;
  };
  for (const RequiredValues& required : graph.required)
    if (required.input == graph.tensors[input].name) narrow(required.values);
  for (const GraphNode& node : graph.nodes) {
    if (const auto values = held_by(graph, node, held)) held[node.output] = values;
    const std::optional<size_t> axis = looked_up_axis(node.op);
    if (!axis || !held[node.inputs[1]]) continue;
    const int64_t extent = graph.tensors[node.inputs[0]].type.shape[*axis];
    const int64_t replaced = held[node.inputs[1]]->replaced.value_or(0);
    narrow({std::min(-extent, replaced), std::max(extent - 1, replaced)});
  }
  return range;
}

std::optional<RequiredValues> values_for(const Graph& graph, TensorId condition, bool truth) {
  condition = source_of(graph, condition);
  if (is_input(graph, condition)) {
    const int64_t value = truth ? 1 : 0;
    return RequiredValues{graph.tensors[condition].name, {value, value}};
  }
  const GraphNode* node = producer_of(graph, condition);
  if (node == nullptr) return std::nullopt;
  if (node->op == GraphOp(MapOp{MapFunction::logical_not})) return values_for(graph, node->inputs[0], !truth);
  const auto* comparison = std::get_if<ZipOp>(&node->op);
  return comparison == nullptr ? std::nullopt
                               : values_of_comparison(graph, *node, comparison->function, truth);
}

}  // namespace lathe
