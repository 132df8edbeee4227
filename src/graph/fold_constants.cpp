// A pass of graph/simplify.h.
#include <algorithm>

#include "graph/reference.h"
#include "graph/simplify.h"

namespace lathe {

namespace {

// The node's result as constant data, or null if an operand has no value or the result is too large to be
// kept.
std::shared_ptr<const Bytes> fold(const Graph& graph, const GraphNode& node) {
  const bool all_constant = std::all_of(node.inputs.begin(), node.inputs.end(),
                                        [&](TensorId id) { return graph.tensors[id].is_constant(); });
  if (!all_constant) return nullptr;
  if (role_of(node.op) == FusionRole::view) return graph.tensors[node.inputs[0]].data;
  int64_t operand_elements = 0;
  for (TensorId id : node.inputs) operand_elements += elements_of(graph.tensors[id].type.shape);
  const TensorType& type = graph.tensors[node.output].type;
  if (!may_be_folded(elements_of(type.shape), operand_elements)) return nullptr;
  std::vector<const GraphTensor*> operands;
  for (TensorId id : node.inputs) operands.push_back(&graph.tensors[id]);
  return evaluate_constants(node, operands);
}

}  // namespace

Graph fold_constants(const Graph& graph) {
  Graph result = graph;
  result.nodes.clear();
  for (const GraphNode& node : graph.nodes) {
    std::shared_ptr<const Bytes> data = is_output(graph, node.output) ? nullptr : fold(result, node);
    if (data) {
      result.tensors[node.output].data = std::move(data);
    } else {
      result.nodes.push_back(node);
    }
  }
  return result;
}

}  // namespace lathe
