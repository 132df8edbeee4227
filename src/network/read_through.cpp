#include "network/read_through.h"

#include <algorithm>

namespace lathe {

std::vector<bool> read_through(const Graph& graph, const LayoutPlan& plan) {
  const std::vector<std::vector<size_t>> consumers = consumers_of(graph);
  const auto reads_its_elements = [&](size_t reader, const GraphNode& node) {
    const GraphNode& other = graph.nodes[reader];
    return role_of(other.op) == FusionRole::elementwise &&
           graph.tensors[other.output].type.shape == graph.tensors[node.output].type.shape;
  };
  std::vector<bool> result;
  for (const GraphNode& node : graph.nodes) {
    const auto* slice = std::get_if<SliceOp>(&node.op);
    const std::vector<size_t>& readers = consumers[node.output];
    result.push_back(
        slice != nullptr && !plan.is_free(node) && !is_output(graph, node.output) && !slice->steps.empty() &&
        slice->steps.back() == 1 && !readers.empty() &&
        std::ranges::all_of(readers, [&](size_t reader) { return reads_its_elements(reader, node); }));
  }
  return result;
}

}  // namespace lathe
