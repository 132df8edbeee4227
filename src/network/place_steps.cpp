#include "network/place_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lathe {
namespace {

// Of one loop.
class StepPlacer {
 public:
  StepPlacer(const Graph& graph, const LoopNest& nest, const LayoutPlan& plan, size_t loop)
      : graph_(graph), nest_(nest), plan_(plan), loop_(loop) {
    result_.name = nest.loops[loop].loop.name;
    result_.steps = nest.loops[loop].loop.steps;
    result_.parent = nest.loops[loop].parent;
  }

  Result<LoopOfUses> run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (nest_.of_node[n] != loop_) continue;
      const GraphNode& node = graph_.nodes[n];
      if (const auto* take = std::get_if<TakeStepOp>(&node.op)) add(*take, node);
      if (const auto* stack = std::get_if<StackStepsOp>(&node.op)) LATHE_TRY_STATUS(add(*stack, node));
      if (const auto* state = std::get_if<StepStateOp>(&node.op)) begins_[state->number] = &node;
      if (const auto* last = std::get_if<LastStateOp>(&node.op)) ends_[last->number] = &node;
      if (std::holds_alternative<StepsWhileOp>(node.op))
        result_.condition = {plan_.storage[node.inputs[0]], plan_.storage[node.inputs[1]]};
    }
    for (const auto& [number, end] : ends_) LATHE_TRY_STATUS(add_state(number, *end));
    return std::move(result_);
  }

 private:
  int64_t row_bytes(TensorId whole) const { return bytes_of(graph_.tensors[whole].type) / result_.steps; }

  void add(const TakeStepOp& take, const GraphNode& node) {
    const int64_t row = row_bytes(node.inputs[0]);
    const TensorId source = plan_.storage[node.inputs[0]];
    const StepPlace place =
        take.backwards ? StepPlace{source, (result_.steps - 1) * row, -row} : StepPlace{source, 0, row};
    result_.moving.push_back({node.output, place, place, place});
  }

  Status add(const StackStepsOp& stack, const GraphNode& node) {
    const int64_t row = row_bytes(node.output);
    const StepPlace place = stack.backwards ? StepPlace{node.output, (result_.steps - 1) * row, -row}
                                            : StepPlace{node.output, 0, row};
    const TensorId step = plan_.storage[node.inputs[0]];
    LATHE_TRY_STATUS(check_computed(step));
    if (!stacked_.try_emplace(step, place).second) return not_settled(step);
    result_.moving.push_back({step, place, place, place});
    result_.kept.push_back(node.output);
    return {};
  }

  Status add_state(size_t number, const GraphNode& end) {
    const TensorId next = plan_.storage[end.inputs[0]];
    LATHE_TRY_STATUS(check_computed(next));
    if (!nexts_.try_emplace(next, number).second) return not_settled(next);
    const auto begin = begins_.find(number);
    if (begin == begins_.end()) return not_settled(next);
    const TensorId state = begin->second->output;
    const StepPlace first{plan_.storage[begin->second->inputs[0]], 0, 0};
    MovingTensor read{state, first, {state, 0, 0}, {next, 0, 0}};
    if (const auto stacked = stacked_.find(next); stacked != stacked_.end()) {
      StepPlace before = stacked->second;
      before.offset -= before.stride;
      read.even = read.odd = before;
    } else {
      result_.moving.push_back({next, {next, 0, 0}, {next, 0, 0}, {state, 0, 0}});
      result_.kept.insert(result_.kept.end(), {state, next});
    }
    result_.moving.push_back(read);
    read.tensor = end.output;
    result_.last.push_back(read);
    return {};
  }

  // An Error unless the loop's own body writes the tensor.
  Status check_computed(TensorId id) const {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const GraphNode& node = graph_.nodes[n];
      if (node.output == id && nest_.of_node[n] == loop_ && loop_of(node.op) == nullptr) return {};
    }
    return not_settled(id);
  }

  Status not_settled(TensorId id) const {
    return fail(ErrorKind::invalid_program,
                fmt::format("loop '{}': '{}' is not written for what stands at the loop's border",
                            result_.name, graph_.tensors[id].name));
  }

  const Graph& graph_;
  const LoopNest& nest_;
  const LayoutPlan& plan_;
  size_t loop_;
  LoopOfUses result_;
  std::map<TensorId, StepPlace> stacked_;
  std::map<TensorId, size_t> nexts_;
  std::map<size_t, const GraphNode*> begins_;
  std::map<size_t, const GraphNode*> ends_;
};

}  // namespace

bool keeps(const LoopOfUses& loop, TensorId storage) {
  return std::ranges::find(loop.kept, storage) != loop.kept.end();
}

Result<std::vector<LoopOfUses>> place_steps(const Graph& graph, const LoopNest& nest,
                                            const LayoutPlan& plan) {
  std::vector<LoopOfUses> loops;
  for (size_t loop = 0; loop < nest.loops.size(); ++loop) {
    LATHE_TRY(LoopOfUses placed, StepPlacer(graph, nest, plan, loop).run());
    loops.push_back(std::move(placed));
  }
  return loops;
}

}  // namespace lathe
