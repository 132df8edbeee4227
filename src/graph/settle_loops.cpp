// A pass of graph/simplify.h.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "graph/loops.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

// Kernels rely on it of every buffer (include/lathe/kernel_abi.h).
constexpr int64_t kAlignment = 64;

int64_t aligned_elements(const TensorType& type) {
  const int64_t row = std::max(kAlignment / bytes_of(type.dtype), int64_t{1});
  return (elements_of(type.shape) + row - 1) / row * row;
}

class LoopSettler {
 public:
  LoopSettler(const Graph& graph, const LoopNest& nest)
      : graph_(graph), nest_(nest), producers_(producers_of(graph)), result_(graph) {
    for (const GraphTensor& tensor : graph.tensors) names_.insert(tensor.name);
    result_.nodes.clear();
  }

  Graph run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      GraphNode node = graph_.nodes[n];
      if (is_entry(node.op)) {
        add_entry(std::move(node));
      } else if (is_exit(node.op)) {
        add_exit(std::move(node), *nest_.of_node[n]);
      } else {
        result_.nodes.push_back(std::move(node));
      }
    }
    return std::move(result_);
  }

 private:
  bool is_constant(TensorId id) const { return result_.tensors[id].is_constant(); }

  TensorId add_tensor(const std::string& like, const char* suffix, TensorType type) {
    std::string name = like + suffix;
    while (!names_.insert(name).second) name += "'";
    result_.tensors.push_back({name, std::move(type), nullptr});
    return result_.tensors.size() - 1;
  }

  // A node behind those so far; gives its result.
  TensorId add(GraphOp op, TensorId operand, const char* suffix) {
    GraphNode node{"", std::move(op), {operand}, 0};
    const std::vector<TensorType> types{result_.tensors[operand].type};
    node.output = add_tensor(result_.tensors[operand].name, suffix, infer_type(node, types).value());
    node.name = result_.tensors[node.output].name;
    result_.nodes.push_back(node);
    return node.output;
  }

  TensorId copied(TensorId id, const std::optional<StepLoop>& inside = std::nullopt) {
    return add(CopyOp{inside}, id, ".copy");
  }

  void add_entry(GraphNode node) {
    TensorId& operand = node.inputs[0];
    if (is_constant(operand)) operand = copied(operand);
    const TensorType type = result_.tensors[node.output].type;
    const int64_t count = elements_of(type.shape), row = aligned_elements(type);
    const auto* take = std::get_if<TakeStepOp>(&node.op);
    if (take == nullptr || row == count || take->loop.steps == 1) {
      result_.nodes.push_back(std::move(node));
      return;
    }
    const TensorId rows = add(ReshapeOp{{take->loop.steps, count}}, operand, ".rows");
    const TensorId padded = add(PadOp{{0, 0}, {0, row - count}}, rows, ".aligned");
    const TensorId taken = add(node.op, padded, ".step");
    const TensorId part = add(SliceOp{{0}, {1}, {count}}, taken, ".part");
    result_.nodes.push_back({node.name, ReshapeOp{type.shape}, {part}, node.output});
  }

  void add_exit(GraphNode node, size_t loop) {
    const StepLoop own = *loop_of(node.op);
    if (std::holds_alternative<StepsWhileOp>(node.op)) {
      if (is_constant(node.inputs[0])) node.inputs[0] = copied(node.inputs[0]);
      if (is_constant(node.inputs[1])) node.inputs[1] = copied(node.inputs[1], own);
      result_.nodes.push_back(std::move(node));
      return;
    }
    const bool is_stacked = std::holds_alternative<StackStepsOp>(node.op);
    if (!may_be_written_for(node.inputs[0], loop, is_stacked)) node.inputs[0] = copied(node.inputs[0], own);
    if (is_stacked) {
      add_stack(std::move(node));
    } else if (is_output(graph_, node.output)) {
      const TensorId output = node.output;
      node.output = add_tensor(result_.tensors[output].name, ".last", result_.tensors[output].type);
      result_.nodes.push_back(node);
      result_.nodes.push_back({node.name + ".copy", CopyOp{}, {node.output}, output});
    } else {
      result_.nodes.push_back(std::move(node));
    }
  }

  void add_stack(GraphNode node) {
    StackStepsOp stack = std::get<StackStepsOp>(node.op);
    const TensorType step = result_.tensors[node.inputs[0]].type;
    const int64_t count = elements_of(step.shape), row = aligned_elements(step);
    if (stack.slot > 0 || row == count || stack.loop.steps == 1) {
      result_.nodes.push_back(std::move(node));
      return;
    }
    stack.slot = row;
    const TensorId rows = add(stack, node.inputs[0], ".rows");
    const TensorId parts = add(SliceOp{{0, 0}, {1, 1}, {stack.loop.steps, count}}, rows, ".parts");
    result_.nodes.push_back(
        {node.name, ReshapeOp{result_.tensors[node.output].type.shape}, {parts}, node.output});
  }

  // Whether the loop's body computes the tensor, and it is no other's whose exit is of the same kind.
  bool may_be_written_for(TensorId id, size_t loop, bool is_stacked) {
    int producer = producers_[id];
    while (producer >= 0 && role_of(op_of(producer)) == FusionRole::view) {
      id = graph_.nodes[static_cast<size_t>(producer)].inputs[0];
      producer = producers_[id];
    }
    if (producer < 0 || nest_.of_node[static_cast<size_t>(producer)] != loop) return false;
    const GraphOp& op = op_of(producer);
    if (loop_of(op) != nullptr || std::holds_alternative<TransposeOp>(op) ||
        std::holds_alternative<SliceOp>(op))
      return false;
    return (is_stacked ? stacked_ : states_).insert(id).second;
  }

  const GraphOp& op_of(int node) const { return graph_.nodes[static_cast<size_t>(node)].op; }

  const Graph& graph_;
  const LoopNest& nest_;
  std::vector<int> producers_;
  Graph result_;
  std::unordered_set<std::string> names_;
  std::set<TensorId> states_;   // that the next step reads
  std::set<TensorId> stacked_;  // that lie in what is stacked of them
};

}  // namespace

Graph settle_loops(const Graph& graph) {
  const Result<LoopNest> nest = loops_of(graph);
  if (!nest || nest->loops.empty()) return graph;
  const Graph settled = LoopSettler(graph, *nest).run();
  Result<Graph> whole = with_whole_loops(settled);
  return whole ? std::move(*whole) : graph;
}

}  // namespace lathe
