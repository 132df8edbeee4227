#include "graph/reference.h"

#include <fmt/format.h>

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
    values[graph.inputs[i]] = inputs[i];
  }
  return {};
}

void bind_constants(const Graph& graph, std::vector<Values>& values) {
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const GraphTensor& tensor = graph.tensors[id];
    if (!tensor.is_constant()) continue;
    values[id] = {tensor.type.shape, values_of(tensor)};
  }
}

}  // namespace

Values evaluate_node(const GraphNode& node, std::span<const Values> inputs) {
  return std::visit([&](const auto& op) { return evaluate(op, inputs); }, node.op);
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
