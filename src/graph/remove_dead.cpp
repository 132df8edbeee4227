// A pass of graph/simplify.h.
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "graph/simplify.h"

namespace lathe {
namespace {

// Which nodes and tensors the outputs need. What a state is in the next step, and whether there is one, is
// needed by all that reads the state or what comes of the loop.
struct Needs {
  std::vector<bool> needed;  // of the tensors
  std::vector<bool> used;    // of the nodes

  explicit Needs(const Graph& graph)
      : needed(graph.tensors.size(), false), used(graph.nodes.size(), false), graph_(graph) {
    for (TensorId id : graph.outputs) needed[id] = true;
    while (walk()) {
    }
  }

 private:
  // Whether something that stands before what needs it was found.
  bool walk() {
    const size_t known = states_.size() + loops_.size();
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      const GraphNode& node = graph_.nodes[n];
      used[n] = needed[node.output] || goes_on(node.op);
      if (!used[n]) continue;
      needed[node.output] = true;
      for (TensorId id : node.inputs) needed[id] = true;
      if (const StepLoop* loop = loop_of(node.op)) loops_.insert(loop->name);
      if (const auto state = state_of(node.op)) states_.insert(*state);
    }
    return states_.size() + loops_.size() > known;
  }

  bool goes_on(const GraphOp& op) const {
    if (const auto state = state_of(op)) return states_.contains(*state);
    const auto* condition = std::get_if<StepsWhileOp>(&op);
    return condition != nullptr && loops_.contains(condition->loop.name);
  }

  // The loop and number of a state that the operator begins a step with or takes to the next one.
  using State = std::pair<std::string, size_t>;
  static std::optional<State> state_of(const GraphOp& op) {
    if (const auto* state = std::get_if<StepStateOp>(&op)) return State{state->loop.name, state->number};
    if (const auto* last = std::get_if<LastStateOp>(&op)) return State{last->loop.name, last->number};
    return std::nullopt;
  }

  const Graph& graph_;
  std::set<std::string> loops_;
  std::set<State> states_;
};

}  // namespace

Graph remove_dead(const Graph& graph) {
  Needs needs(graph);
  std::vector<bool>&needed = needs.needed, &used = needs.used;
  for (TensorId id : graph.inputs) needed[id] = true;

  Graph result;
  result.name = graph.name;
  result.data_files = graph.data_files;
  result.required = graph.required;
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
