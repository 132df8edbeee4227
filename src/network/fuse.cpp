#include "network/fuse.h"

#include <algorithm>
#include <numeric>

#include "expr/walk.h"
#include "ops/axes.h"

namespace lathe {

namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// How often a group's expression may hold the value of its anchor, or of what an element-wise anchor reads: a
// leaky rectifier names its operand three times, and twenty of them in a row would name the first one 3^20
// times.
constexpr int64_t kMostCopies = 64;

// Expressions are trees walked by recursion: a chain of thousands would take minutes, then the stack.
constexpr size_t kMostNodes = 32;

// Floating-point work of an anchor, to order them: the outputs times the elements that each sums over.
int64_t work_of(const Graph& graph, const GraphNode& node) {
  const Shape& output = graph.tensors[node.output].type.shape;
  if (std::holds_alternative<MatMulOp>(node.op))
    return elements_of(output) * graph.tensors[node.inputs[0]].type.shape.back();
  const bool is_product = std::holds_alternative<ConvOp>(node.op) || std::holds_alternative<GemmOp>(node.op);
  if (!is_product) return elements_of(output);
  const Shape& weight = graph.tensors[node.inputs[1]].type.shape;
  return elements_of(output) / output[1] * elements_of(weight);
}

// How often the expression of an element-wise node holds this operand.
int64_t copies_of(const Graph& graph, const GraphNode& node, TensorId operand) {
  const auto tensor_of = [&](TensorId id) {
    return Tensor("t", graph.tensors[id].type.shape, graph.tensors[id].type.dtype);
  };
  const Tensor held = tensor_of(operand);
  const std::vector<Axis> axes = axes_of(tensor_of(node.output));
  std::vector<Tensor> operands;
  for (const TensorId id : node.inputs) operands.push_back(id == operand ? held : tensor_of(id));
  const PointOperands point(axes, operands, Expr());
  const auto lowered = [&](const auto& op) -> Expr {
    if constexpr (std::decay_t<decltype(op)>::kRole == FusionRole::elementwise) return lower(op, point);
    return point.at(0);
  };
  return std::ranges::count_if(loads_of(std::visit(lowered, node.op)),
                               [&](const Load* load) { return load->tensor == held; });
}

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph),
        producers_(producers_of(graph)),
        consumers_(consumers_of(graph)),
        storage_(storage_of(graph)),
        group_of_(graph.nodes.size(), kNone) {}

  std::vector<FusedGroup> run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const GraphNode& node = graph_.nodes[n];
      if (storage_[node.output] != node.output) continue;
      const bool is_elementwise = role_of(node.op) == FusionRole::elementwise;
      auto [group, copies] = is_elementwise ? best_producer(node) : Producer{};
      if (group == kNone) {
        group = groups_.size();
        groups_.push_back({{}, n, {}, {}, {}});
        copies_.push_back(1);
        if (is_elementwise) copies = most_copies(node);
      }
      copies_[group] *= copies;
      groups_[group].nodes.push_back(n);
      group_of_[n] = group;
    }
    for (FusedGroup& group : groups_) collect_tensors(group);
    // A group gives one tensor, by its last node, so whoever reads it comes after that node.
    std::sort(groups_.begin(), groups_.end(),
              [](const FusedGroup& a, const FusedGroup& b) { return a.nodes.back() < b.nodes.back(); });
    return std::move(groups_);
  }

 private:
  struct Producer {
    size_t group = kNone;
    int64_t copies = 1;  // how often the node's expression holds the group's result
  };

  // The group that may take in the element-wise node: one whose result nobody else reads, the node reads
  // once, has the node's shape, and whose expression stays small with it.
  Producer best_producer(const GraphNode& node) const {
    Producer best;
    for (TensorId operand : node.inputs) {
      const int producer = producers_[operand];
      if (producer < 0 || group_of_[static_cast<size_t>(producer)] == kNone) continue;
      if (consumers_[operand].size() > 1 || is_output(graph_, operand)) continue;
      if (graph_.tensors[operand].type.shape != graph_.tensors[node.output].type.shape) continue;
      const size_t group = group_of_[static_cast<size_t>(producer)];
      if (std::count(node.inputs.begin(), node.inputs.end(), operand) > 1) continue;
      const int64_t copies = copies_of(graph_, node, operand);
      if (copies == 0) continue;  // x^0 reads nothing
      if (copies > kMostCopies / copies_[group] || groups_[group].nodes.size() >= kMostNodes) continue;
      if (best.group == kNone || work(group) > work(best.group)) best = {group, copies};
    }
    return best;
  }

  int64_t most_copies(const GraphNode& node) const {
    int64_t most = 1;
    for (TensorId operand : node.inputs) most = std::max(most, copies_of(graph_, node, operand));
    return most;
  }

  int64_t work(size_t group) const { return work_of(graph_, graph_.nodes[groups_[group].anchor]); }

  void collect_tensors(FusedGroup& group) const {
    const auto add_once = [](std::vector<TensorId>& list, TensorId id) {
      if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
    };
    std::vector<TensorId> given;
    for (size_t n : group.nodes) {
      for (TensorId id : graph_.nodes[n].inputs) {
        if (std::find(given.begin(), given.end(), id) != given.end()) continue;
        add_once(graph_.tensors[id].is_constant() ? group.constants : group.inputs, id);
      }
      given.push_back(graph_.nodes[n].output);
    }
    group.outputs = {given.back()};
  }

  const Graph& graph_;
  std::vector<int> producers_;
  std::vector<std::vector<size_t>> consumers_;
  std::vector<TensorId> storage_;
  std::vector<size_t> group_of_;
  std::vector<FusedGroup> groups_;
  std::vector<int64_t> copies_;  // of each group's anchor's value in its expression
};

}  // namespace

std::vector<FusedGroup> fuse(const Graph& graph) { return Fuser(graph).run(); }

std::vector<TensorId> storage_of(const Graph& graph) {
  std::vector<TensorId> storage(graph.tensors.size());
  std::iota(storage.begin(), storage.end(), TensorId{0});
  const std::vector<int> producers = producers_of(graph);
  std::vector<bool> holds_output(graph.tensors.size(), false);
  for (TensorId id : graph.outputs) holds_output[id] = true;
  for (const GraphNode& node : graph.nodes) {
    if (role_of(node.op) != FusionRole::view) continue;
    const TensorId root = storage[node.inputs[0]];
    const bool is_free = producers[root] >= 0 && !holds_output[root];
    if (is_output(graph, node.output)) {
      if (!is_free) continue;
      holds_output[root] = true;
    }
    storage[node.output] = root;
  }
  return storage;
}

}  // namespace lathe
