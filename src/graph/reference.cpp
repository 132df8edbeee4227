#include "graph/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/stored_types.h"

namespace lathe {

namespace {

Status bind_inputs(const Graph& graph, std::span<const Values> inputs, std::vector<Values>& values) {
  if (inputs.size() != graph.inputs.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} inputs are given, and the graph has {}", inputs.size(), graph.inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[graph.inputs[i]];
    if (inputs[i].shape != tensor.type.shape ||
        inputs[i].data.size() != static_cast<size_t>(elements_of(tensor.type.shape))) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input '{}' is given with shape {}, and has {}", tensor.name,
                              to_string(inputs[i].shape), to_string(tensor.type.shape)));
    }
    values[graph.inputs[i]] = {tensor.type.shape, inputs[i].data, tensor.type.dtype};
  }
  return {};
}

void bind_constants(const Graph& graph, std::vector<Values>& values) {
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const GraphTensor& tensor = graph.tensors[id];
    if (!tensor.is_constant()) continue;
    values[id] = {tensor.type.shape, values_of(tensor), tensor.type.dtype};
  }
}

// A product of two matrices of 1000 x 1000 is folded in about a second.
constexpr double kMostSteps = 0x1p30;

double steps_of_node(const GraphOp& op, std::span<const TensorType> inputs) {
  const auto steps = [&]<class Op>(const Op& each) {
    if constexpr (requires { steps_of(each, inputs); }) return steps_of(each, inputs);
    return 0.0;
  };
  return std::visit(steps, op);
}

bool is_below_2_to_53(double value) { return std::abs(value) < 0x1p53; }

}  // namespace

Values evaluate_node(const GraphNode& node, std::span<const Values> inputs) {
  std::vector<TensorType> types;
  for (const Values& input : inputs) types.push_back({input.dtype, input.shape});
  std::vector<Values> widened;
  const auto is_stored_only = [](const Values& input) { return is_storage_only(input.dtype); };
  if (!keeps_stored_type(node.op) && std::ranges::any_of(inputs, is_stored_only)) {
    widened.assign(inputs.begin(), inputs.end());
    for (Values& input : widened) input.dtype = info_of(input.dtype).computed_in;
    inputs = widened;
  }
  Values result = std::visit([&](const auto& op) { return evaluate(op, inputs); }, node.op);
  result.dtype = infer_type(node, types).value().dtype;
  return result;
}

std::shared_ptr<const Bytes> evaluate_constants(const GraphNode& node,
                                                std::span<const GraphTensor* const> operands) {
  const bool moves = moves_elements(node.op);
  std::vector<TensorType> types;
  for (const GraphTensor* operand : operands) types.push_back(operand->type);
  if (steps_of_node(node.op, types) > kMostSteps) return nullptr;
  std::vector<Values> values;
  for (const GraphTensor* operand : operands) {
    values.push_back({operand->type.shape, values_of(*operand), operand->type.dtype});
    if (!is_wide_integer(operand->type.dtype)) continue;
    const bool exact = moves ? *to_bytes(operand->type.dtype, values.back().data) == *operand->data
                             : std::ranges::all_of(values.back().data, is_below_2_to_53);
    if (!exact) return nullptr;
  }
  const Values result = evaluate_node(node, values);
  if (is_wide_integer(result.dtype) && !moves && !std::ranges::all_of(result.data, is_below_2_to_53))
    return nullptr;
  return to_bytes(result.dtype, result.data);
}

Result<std::vector<Values>> evaluate_tensors(const Graph& graph, std::span<const Values> inputs) {
  std::vector<Values> values(graph.tensors.size());
  LATHE_TRY_STATUS(bind_inputs(graph, inputs, values));
  bind_constants(graph, values);
  for (const GraphNode& node : graph.nodes) {
    std::vector<Values> operands;
    for (TensorId id : node.inputs) operands.push_back(values[id]);
    values[node.output] = evaluate_node(node, operands);
  }
  return values;
}

Result<std::vector<Values>> evaluate_graph(const Graph& graph, std::span<const Values> inputs) {
  LATHE_TRY(std::vector<Values> values, evaluate_tensors(graph, inputs));
  std::vector<Values> outputs;
  for (TensorId id : graph.outputs) outputs.push_back(values[id]);
  return outputs;
}

}  // namespace lathe
