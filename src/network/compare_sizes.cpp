#include "network/compare_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <variant>

#include "graph/reference.h"

namespace lathe {
namespace {

// What is computed of constants, and is a constant in the other graph, is one in this graph too.
void fold_as(Graph& graph, const Graph& other) {
  std::erase_if(graph.nodes, [&](const GraphNode& node) {
    if (node.output >= other.tensors.size() || !other.tensor(node.output).is_constant()) return false;
    std::vector<const GraphTensor*> operands;
    for (const TensorId id : node.inputs) operands.push_back(&graph.tensors[id]);
    if (!std::ranges::all_of(operands, &GraphTensor::is_constant)) return false;
    std::shared_ptr<const Bytes> data = evaluate_constants(node, operands);
    if (data == nullptr) return false;
    graph.tensors[node.output].data = std::move(data);
    return true;
  });
}

bool are_same(const GraphTensor& one, const GraphTensor& other) {
  if (one.type != other.type || one.is_constant() != other.is_constant()) return false;
  return !one.is_constant() || one.data == other.data || *one.data == *other.data;
}

}  // namespace

std::vector<FreeParts> compare_sizes(const Graph& graph, int64_t size, const Graph& other,
                                     int64_t other_size) {
  if (graph.tensors.size() != other.tensors.size()) return {};
  std::vector<FreeParts> all(graph.tensors.size());
  for (TensorId id = 0; id < all.size(); ++id) {
    const Shape& here = graph.tensor(id).type.shape;
    const Shape& there = other.tensor(id).type.shape;
    if (here.size() != there.size()) return {};
    for (size_t d = 0; d < here.size(); ++d)
      if (here[d] == size && there[d] == other_size) all[id].push_back({d});
  }
  return all;
}

std::vector<TensorId> numbers_of_size(const Graph& graph, const Graph& other) {
  std::set<TensorId> found;
  if (graph.tensors.size() != other.tensors.size()) return {};
  for (const GraphNode& node : graph.nodes) {
    for (const TensorId id : node.inputs) {
      const GraphTensor& here = graph.tensor(id);
      const GraphTensor& there = other.tensor(id);
      if (here.is_constant() && there.is_constant() && here.type == there.type && !are_same(here, there))
        found.insert(id);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<FreeParts> numbering_constants(const Graph& graph, int64_t size) {
  std::vector<FreeParts> all(graph.tensors.size());
  for (TensorId id = 0; id < all.size(); ++id) {
    const GraphTensor& tensor = graph.tensor(id);
    for (size_t d = 0; tensor.is_constant() && d < tensor.type.shape.size(); ++d)
      if (tensor.type.shape[d] == size && goes_on_along(tensor, d)) all[id].push_back({d});
  }
  for (const GraphNode& node : graph.nodes) {
    const Shape& shape = graph.tensor(node.output).type.shape;
    const Shape& operand = graph.tensor(node.inputs[0]).type.shape;
    if (std::holds_alternative<ExpandOp>(node.op)) {
      for (size_t d = 0; d < shape.size(); ++d) {
        const size_t back = shape.size() - d;
        const bool is_one = back > operand.size() || operand[operand.size() - back] == 1;
        if (shape[d] == size && is_one) all[node.output].push_back({d});
      }
    }
    const auto* gather = std::get_if<GatherOp>(&node.op);
    int64_t before = 1;  // lists of places beside each other
    for (size_t d = 0; gather != nullptr && d < gather->places_shape.size(); ++d) {
      if (gather->places_shape[d] == size && (before == 1 || gather->step == 0))
        all[node.output].push_back({gather->axis + d});
      before *= gather->places_shape[d];
    }
  }
  return all;
}

Status check_same(Graph graph, Graph other, const std::string& what) {
  fold_as(graph, other);
  fold_as(other, graph);
  const auto differs = [&](const std::string& label) {
    return fail(ErrorKind::unsupported, fmt::format("{} is another one {}", label, what));
  };
  for (size_t n = 0; n < std::min(graph.nodes.size(), other.nodes.size()); ++n) {
    const GraphNode& node = graph.nodes[n];
    const GraphNode& twin = other.nodes[n];
    if (node.op != twin.op || node.inputs != twin.inputs || node.output != twin.output)
      return differs(label_of(node));
  }
  if (graph.nodes.size() != other.nodes.size() || graph.tensors.size() != other.tensors.size())
    return differs("the list of nodes");
  // A model may hold constants that only shapes were computed of.
  for (const GraphNode& node : graph.nodes) {
    for (const TensorId id : node.inputs)
      if (!are_same(graph.tensor(id), other.tensor(id)))
        return differs(fmt::format("what {} reads, '{}',", label_of(node), graph.tensor(id).name));
  }
  return {};
}

}  // namespace lathe
