// A pass of graph/simplify.h.
#include "graph/simplify.h"

namespace lathe {

Graph remove_dead(const Graph& graph) {
  std::vector<bool> needed(graph.tensors.size(), false), used(graph.nodes.size(), false);
  for (TensorId id : graph.outputs) needed[id] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    used[n] = needed[graph.nodes[n].output];
    if (!used[n]) continue;
    for (TensorId id : graph.nodes[n].inputs) needed[id] = true;
  }
  for (TensorId id : graph.inputs) needed[id] = true;

  Graph result;
  result.name = graph.name;
  result.data_files = graph.data_files;
  result.notes = graph.notes;
  std::vector<TensorId> place(graph.tensors.size());
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    if (!needed[id]) continue;
    place[id] = result.tensors.size();
    result.tensors.push_back(graph.tensors[id]);
  }
  for (TensorId id : graph.inputs) result.inputs.push_back(place[id]);
  for (TensorId id : graph.outputs) result.outputs.push_back(place[id]);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!used[n]) continue;
    GraphNode node = graph.nodes[n];
    for (TensorId& id : node.inputs) id = place[id];
    node.output = place[node.output];
    result.nodes.push_back(std::move(node));
  }
  return result;
}

}  // namespace lathe
