#include "graph/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "graph/loops.h"
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
  Values result = std::visit(
      [&]<class Op>(const Op& op) {
        if constexpr (Op::kRole == FusionRole::border)
          return inputs[0];  // a state begins so; a whole loop is `LoopEvaluation`'s
        else
          return evaluate(op, inputs);
      },
      node.op);
  result.dtype = infer_type(node, types).value().dtype;
  return result;
}

std::shared_ptr<const Bytes> evaluate_constants(const GraphNode& node,
                                                std::span<const GraphTensor* const> operands) {
  if (loop_of(node.op) != nullptr || std::holds_alternative<CopyOp>(node.op)) return nullptr;
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

namespace {

// Runs the nodes of a graph whose loops are whole, those of a loop's body once for each step.
class LoopEvaluation {
 public:
  LoopEvaluation(const Graph& graph, const LoopNest& nest, std::vector<Values>& values)
      : graph_(graph), nest_(nest), values_(values) {}

  void run() { run_nodes(0, graph_.nodes.size(), std::nullopt); }

 private:
  // Of the loop that runs: what its exits have read.
  struct Steps {
    std::map<size_t, Values> states;  // by their numbers
    std::map<size_t, Values> next;
    std::map<size_t, std::vector<Values>> stacked;  // by their nodes
    bool goes_on = true;
  };

  void run_nodes(size_t begin, size_t end, std::optional<size_t> loop, Steps* steps = nullptr,
                 int64_t step = 0) {
    for (size_t n = begin; n < end;) {
      if (nest_.of_node[n] == loop) {
        evaluate(n, steps, step);
        ++n;
        continue;
      }
      const size_t inner = nest_.child_towards(loop, *nest_.of_node[n]);
      size_t behind = n;
      while (behind < end && nest_.is_within(nest_.of_node[behind], inner)) ++behind;
      run_loop(n, behind, inner);
      n = behind;
    }
  }

  void run_loop(size_t begin, size_t end, size_t loop) {
    Steps steps;
    for (size_t n = begin; n < end; ++n) {
      const GraphNode& node = graph_.nodes[n];
      if (nest_.of_node[n] != loop) continue;
      if (std::holds_alternative<StepsWhileOp>(node.op)) steps.goes_on = values_[node.inputs[0]].data[0] != 0;
      if (const auto* state = std::get_if<StepStateOp>(&node.op))
        steps.states[state->number] = values_[node.inputs[0]];
    }
    for (int64_t step = 0; step < nest_.loops[loop].loop.steps && steps.goes_on; ++step) {
      run_nodes(begin, end, loop, &steps, step);
      for (auto& [number, value] : steps.next) steps.states[number] = std::move(value);
      steps.next.clear();
    }
    for (size_t n = begin; n < end; ++n) {
      const GraphNode& node = graph_.nodes[n];
      if (nest_.of_node[n] != loop) continue;
      if (const auto* last = std::get_if<LastStateOp>(&node.op))
        values_[node.output] = steps.states[last->number];
      if (const auto* stack = std::get_if<StackStepsOp>(&node.op))
        values_[node.output] = evaluate_steps(*stack, steps.stacked[n]);
      if (std::holds_alternative<StepsWhileOp>(node.op)) values_[node.output] = values_[node.inputs[0]];
    }
  }

  void evaluate(size_t n, Steps* steps, int64_t step) {
    const GraphNode& node = graph_.nodes[n];
    std::vector<Values> operands;
    for (const TensorId id : node.inputs) operands.push_back(values_[id]);
    if (const auto* take = std::get_if<TakeStepOp>(&node.op)) {
      values_[node.output] = evaluate_step(*take, operands[0], step);
    } else if (const auto* state = std::get_if<StepStateOp>(&node.op)) {
      values_[node.output] = steps->states[state->number];
    } else if (const auto* last = std::get_if<LastStateOp>(&node.op)) {
      steps->next[last->number] = std::move(operands[0]);
    } else if (std::holds_alternative<StackStepsOp>(node.op)) {
      steps->stacked[n].push_back(std::move(operands[0]));
    } else if (std::holds_alternative<StepsWhileOp>(node.op)) {
      steps->goes_on = operands[1].data[0] != 0;
    } else {
      values_[node.output] = evaluate_node(node, operands);
    }
  }

  const Graph& graph_;
  const LoopNest& nest_;
  std::vector<Values>& values_;
};

}  // namespace

Result<std::vector<Values>> evaluate_tensors(const Graph& graph, std::span<const Values> inputs) {
  std::vector<Values> values(graph.tensors.size());
  LATHE_TRY_STATUS(bind_inputs(graph, inputs, values));
  bind_constants(graph, values);
  LATHE_TRY(const Graph whole, with_whole_loops(graph));
  LATHE_TRY(const LoopNest nest, loops_of(whole));
  LoopEvaluation(whole, nest, values).run();
  return values;
}

Result<std::vector<Values>> evaluate_graph(const Graph& graph, std::span<const Values> inputs) {
  LATHE_TRY(std::vector<Values> values, evaluate_tensors(graph, inputs));
  std::vector<Values> outputs;
  for (TensorId id : graph.outputs) outputs.push_back(values[id]);
  return outputs;
}

}  // namespace lathe
