// A pass of graph/simplify.h.
#include <numeric>

#include "graph/simplify.h"

namespace lathe {

namespace {

// Whether the operand's producer can give the graph output in the Identity's place, under the output's name.
bool can_give_output(const Graph& graph, TensorId operand) {
  const std::vector<int> producers = producers_of(graph);
  return producers[operand] >= 0 && !is_output(graph, operand);
}

}  // namespace

Graph remove_identities(const Graph& graph) {
  Graph result = graph;
  result.nodes.clear();
  std::vector<TensorId> stands_for(graph.tensors.size());  // which tensor is read in each tensor's place
  std::iota(stands_for.begin(), stands_for.end(), TensorId{0});
  for (GraphNode node : graph.nodes) {
    for (TensorId& input : node.inputs) input = stands_for[input];
    if (!std::holds_alternative<IdentityOp>(node.op)) {
      result.nodes.push_back(std::move(node));
      continue;
    }
    const TensorId operand = node.inputs[0];
    if (!is_output(graph, node.output)) {
      stands_for[node.output] = operand;
    } else if (can_give_output(result, operand)) {
      // From here on the output's tensor is the producer's own; earlier readers follow.
      for (GraphNode& earlier : result.nodes) {
        if (earlier.output == operand) earlier.output = node.output;
        for (TensorId& input : earlier.inputs) input = input == operand ? node.output : input;
      }
      for (TensorId& target : stands_for) target = target == operand ? node.output : target;
    } else {
      result.nodes.push_back(std::move(node));
    }
  }
  return result;
}

}  // namespace lathe
