// The invariants of a graph, checked after hand edits: what `verify` in graph.h promises.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "graph/graph.h"
#include "graph/loops.h"

namespace lathe {

namespace {

std::unexpected<Error> broken(const Graph& graph, std::string message) {
  return fail(ErrorKind::invalid_program, std::move(message), "graph " + graph.name);
}

// Whether a node copies the tensor that has the same name.
bool is_named_copy(const Graph& graph, const GraphNode& node) {
  return std::holds_alternative<IdentityOp>(node.op) && is_output(graph, node.output) &&
         graph.tensors[node.inputs[0]].name == graph.tensors[node.output].name;
}

// Of a graph whose nodes are verified.
Status verify_tensors(const Graph& graph) {
  std::vector<bool> shares_name(graph.tensors.size(), false);
  for (const GraphNode& node : graph.nodes) {
    if (is_named_copy(graph, node)) shares_name[node.output] = true;
  }
  std::unordered_set<std::string_view> names;
  for (const GraphTensor& tensor : graph.tensors) {
    if (shares_name[static_cast<size_t>(&tensor - graph.tensors.data())]) continue;
    if (!names.insert(tensor.name).second) {
      return broken(graph, fmt::format("there are two tensors named '{}'", tensor.name));
    }
    if (tensor.is_constant() && static_cast<int64_t>(tensor.data->size()) != bytes_of(tensor.type)) {
      return broken(graph, fmt::format("constant '{}' has {} bytes of data, and {} takes {}", tensor.name,
                                       tensor.data->size(), to_string(tensor.type), bytes_of(tensor.type)));
    }
  }
  return {};
}

Status verify_node(const Graph& graph, const GraphNode& node, std::vector<bool>& known) {
  std::vector<TensorType> types;
  for (TensorId id : node.inputs) {
    if (id >= graph.tensors.size() || !known[id]) {
      return broken(graph, fmt::format("node '{}' reads a tensor that nothing before it gives", node.name));
    }
    types.push_back(graph.tensors[id].type);
  }
  if (node.output >= graph.tensors.size() || known[node.output]) {
    return broken(graph, fmt::format("node '{}' gives a tensor that is there already", node.name));
  }
  known[node.output] = true;
  LATHE_TRY(const TensorType type, infer_type(node, types));
  if (type != graph.tensors[node.output].type) {
    return broken(graph, fmt::format("node '{}' gives {}, and its output is declared {}", node.name,
                                     to_string(type), to_string(graph.tensors[node.output].type)));
  }
  return {};
}

// A loop that a condition ends has one condition, and stacks nothing: behind its last step there would be
// places that no step wrote.
Status verify_endings(const Graph& graph) {
  std::set<std::string> ends_early;
  for (const GraphNode& node : graph.nodes) {
    const auto* ends = std::get_if<StepsWhileOp>(&node.op);
    if (ends != nullptr && !ends_early.insert(ends->loop.name).second)
      return broken(graph, fmt::format("loop '{}' has two conditions", ends->loop.name));
  }
  for (const GraphNode& node : graph.nodes) {
    const auto* stack = std::get_if<StackStepsOp>(&node.op);
    if (stack == nullptr || !ends_early.contains(stack->loop.name)) continue;
    return broken(graph, fmt::format("loop '{}' has a condition, and '{}' a place for each of its steps",
                                     stack->loop.name, graph.tensors[node.output].name));
  }
  return {};
}

// Each state of a loop goes on, once, and is in every step what it was in the one before; what stands inside
// of a loop is no output.
Status verify_loops(const Graph& graph) {
  LATHE_TRY(const Graph whole, with_whole_loops(graph));
  LATHE_TRY(const LoopNest nest, loops_of(whole));
  std::map<std::pair<std::string, size_t>, TensorType> next;
  for (const GraphNode& node : graph.nodes) {
    const auto* last = std::get_if<LastStateOp>(&node.op);
    if (last == nullptr) continue;
    if (!next.try_emplace({last->loop.name, last->number}, graph.tensors[node.output].type).second) {
      return broken(graph, fmt::format("state {} of loop '{}' goes on twice", last->number, last->loop.name));
    }
  }
  for (size_t n = 0; n < whole.nodes.size(); ++n) {
    const GraphNode& node = whole.nodes[n];
    if (const auto* state = std::get_if<StepStateOp>(&node.op)) {
      const auto found = next.find({state->loop.name, state->number});
      if (found == next.end() || found->second != whole.tensors[node.output].type) {
        return broken(graph, fmt::format("state {} of loop '{}' does not go on as what it begins with",
                                         state->number, state->loop.name));
      }
    }
    const bool is_inside =
        is_exit(node.op) ? nest.loops[*nest.of_node[n]].parent.has_value() : nest.of_node[n].has_value();
    if (is_inside && is_output(graph, node.output))
      return broken(graph, fmt::format("output '{}' stands in a loop", graph.tensors[node.output].name));
  }
  return {};
}

}  // namespace

Status verify(const Graph& graph) {
  std::vector<bool> known(graph.tensors.size(), false);
  for (size_t id = 0; id < graph.tensors.size(); ++id) known[id] = graph.tensors[id].is_constant();
  for (TensorId id : graph.inputs) {
    if (id >= graph.tensors.size() || known[id]) return broken(graph, "an input is no tensor of its own");
    known[id] = true;
  }
  for (const GraphNode& node : graph.nodes) LATHE_TRY_STATUS(verify_node(graph, node, known));
  LATHE_TRY_STATUS(verify_tensors(graph));
  LATHE_TRY_STATUS(verify_loops(graph));
  LATHE_TRY_STATUS(verify_endings(graph));
  const std::vector<int> producers = producers_of(graph);
  for (TensorId id : graph.outputs) {
    if (id >= graph.tensors.size() || producers[id] < 0)
      return broken(graph, "an output is given by no node");
  }
  return {};
}

}  // namespace lathe
