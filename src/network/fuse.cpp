#include "network/fuse.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "expr/walk.h"
#include "graph/loops.h"
#include "network/join_rows.h"
#include "network/read_through.h"
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
  std::vector<PointOperand> operands;
  for (const TensorId id : node.inputs) operands.emplace_back(id == operand ? held : tensor_of(id));
  const PointOperands point(axes, operands);
  const auto lowered = [&](const auto& op) -> Expr {
    if constexpr (std::decay_t<decltype(op)>::kRole == FusionRole::elementwise) return lower(op, point);
    return point.at(0);
  };
  return std::ranges::count_if(loads_of(std::visit(lowered, node.op)),
                               [&](const Load* load) { return load->tensor == held; });
}

// The order of a group's axes in which a tensor inside it has its own.
using AxisOrder = std::vector<size_t>;

class Fuser {
 public:
  Fuser(const Graph& graph, const LayoutPlan& plan)
      : graph_(graph),
        plan_(plan),
        producers_(producers_of(graph)),
        consumers_(consumers_of(graph)),
        is_read_through_(read_through(graph, plan)),
        loops_(loops_of(graph).value_or(LoopNest()).of_node),
        group_of_(graph.nodes.size(), kNone),
        copies_(graph.tensors.size(), 0) {
    loops_.resize(graph.nodes.size());
  }

  std::vector<FusedGroup> run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const GraphNode& node = graph_.nodes[n];
      if (group_of_[n] != kNone || plan_.is_free(node) || is_read_through_[n]) continue;
      if (role_of(node.op) == FusionRole::border) continue;
      const bool is_elementwise = is_elementwise_node(node);
      Extension extension = is_elementwise ? best_extension(n) : Extension{};
      if (extension.group == kNone) {
        extension = {groups_.size(), {n}, {is_elementwise ? most_copies(node) : 1}};
        groups_.push_back({{}, {n}, {}, {}, {}});
      }
      add(extension);
      for (const size_t joined : extension.nodes) take_in_operands(joined);
    }
    std::erase_if(groups_, [](const FusedGroup& group) { return group.nodes.empty(); });
    for (FusedGroup& group : groups_) take_in_slices(group);
    groups_ = join_rows(graph_, std::move(groups_), loops_);
    for (FusedGroup& group : groups_) collect_tensors(group);
    // A group gives one tensor, by its last node, so whoever reads it comes after that node.
    std::sort(groups_.begin(), groups_.end(),
              [](const FusedGroup& a, const FusedGroup& b) { return a.nodes.back() < b.nodes.back(); });
    return std::move(groups_);
  }

 private:
  // Nodes that a group may take in together, in order, and how often each one's expression holds the value of
  // the group's anchor.
  struct Extension {
    size_t group = kNone;
    std::vector<size_t> nodes;
    std::vector<int64_t> copies;
  };

  // A tensor inside a group that grows: how often its expression holds the anchor's value, and how its axes
  // are those of the group's result so far.
  struct Inner {
    int64_t copies = 0;
    AxisOrder axes;
  };
  using Inners = std::map<TensorId, Inner>;

  bool is_elementwise_node(const GraphNode& node) const {
    return role_of(node.op) == FusionRole::elementwise;
  }
  // A Transpose that costs nothing, or null.
  const TransposeOp* free_transpose(const GraphNode& node) const {
    return plan_.is_free(node) ? std::get_if<TransposeOp>(&node.op) : nullptr;
  }

  void add(const Extension& extension) {
    FusedGroup& group = groups_[extension.group];
    for (size_t i = 0; i < extension.nodes.size(); ++i) {
      const size_t n = extension.nodes[i];
      group.nodes.push_back(n);
      group_of_[n] = extension.group;
      copies_[graph_.nodes[n].output] = extension.copies[i];
    }
  }

  // Lets the element-wise node's group take in those of its operands that are element-wise as a whole and
  // read by nobody else: where a sum of products begins from several tensors, it is still one kernel.
  //
  // What such a group's result depends on does not depend on the node's group, of whose results the node is
  // the only way out.
  void take_in_operands(size_t n) {
    const GraphNode& node = graph_.nodes[n];
    if (!is_elementwise_node(node)) return;
    FusedGroup& group = groups_[group_of_[n]];
    int64_t copies = 0;
    for (const TensorId operand : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
      const size_t other = group_giving(operand);
      if (other == kNone) continue;
      if (other != group_of_[n]) {
        if (!may_take_in(node, operand, groups_[other])) continue;
        if (group.nodes.size() + groups_[other].nodes.size() > kMostNodes) continue;
        for (const size_t taken : groups_[other].nodes) group_of_[taken] = group_of_[n];
        group.nodes.insert(group.nodes.begin(), groups_[other].nodes.begin(), groups_[other].nodes.end());
        groups_[other].nodes.clear();
      }
      copies += copies_[operand] * copies_of(graph_, node, operand);
    }
    copies_[node.output] = std::max(copies_[node.output], copies);
  }

  size_t group_giving(TensorId id) const {
    const int producer = producers_[id];
    return producer < 0 ? kNone : group_of_[static_cast<size_t>(producer)];
  }

  bool may_take_in(const GraphNode& node, TensorId operand, const FusedGroup& other) const {
    return graph_.nodes[other.nodes.back()].output == operand && consumers_[operand].size() == 1 &&
           !is_output(graph_, operand) &&
           loops_[other.anchors.front()] == loops_[static_cast<size_t>(producers_[node.output])] &&
           graph_.tensors[operand].type.shape == graph_.tensors[node.output].type.shape &&
           copies_[operand] * copies_of(graph_, node, operand) <= kMostCopies &&
           std::ranges::all_of(other.nodes, [&](size_t n) { return is_elementwise_node(graph_.nodes[n]); });
  }

  // How the element-wise node joins the group of one of its operands: the one with the most work.
  Extension best_extension(size_t n) const {
    Extension best;
    for (TensorId result : graph_.nodes[n].inputs) {
      int producer = producers_[result];
      while (producer >= 0 && free_transpose(graph_.nodes[static_cast<size_t>(producer)]) != nullptr) {
        result = graph_.nodes[static_cast<size_t>(producer)].inputs[0];
        producer = producers_[result];
      }
      if (producer < 0 || group_of_[static_cast<size_t>(producer)] == kNone) continue;
      const size_t group = group_of_[static_cast<size_t>(producer)];
      if (loops_[n] != loops_[static_cast<size_t>(producer)]) continue;
      if (best.group != kNone && work(group) <= work(best.group)) continue;
      if (Extension found = extension_from(group, result); found.group != kNone) best = std::move(found);
    }
    return best;
  }

  // The fewest element-wise nodes behind the group's result, with the free Transposes between them, by which
  // all that reads it, and all that reads what comes of it, are inside, but for the result of the last of
  // them. None if there are none, or one has another shape than the group, or the last one's expression would
  // grow too large.
  //
  // Whatever depends on the result depends on it through the last node, so that no operand that these nodes
  // read from elsewhere does: the group stays one that can run at once.
  Extension extension_from(size_t group, TensorId result) const {
    Extension extension{group, {}, {}};
    AxisOrder axes(graph_.tensors[result].type.shape.size());
    std::iota(axes.begin(), axes.end(), size_t{0});
    Inners inners{{result, {copies_[result], axes}}};
    std::set<size_t> readers;  // not taken in yet
    TensorId last = result;
    bool is_whole = false;
    while (!is_whole) {
      if (is_output(graph_, last) || consumers_[last].empty()) return {};
      readers.insert(consumers_[last].begin(), consumers_[last].end());
      const size_t n = *readers.begin();
      readers.erase(readers.begin());
      const GraphNode& node = graph_.nodes[n];
      if (loops_[n] != loops_[groups_[group].anchors.front()]) return {};
      Inner inner = inner_of(node, inners);
      if (inner.copies == 0 || group_of_[n] != kNone || inner.copies > kMostCopies ||
          groups_[group].nodes.size() + extension.nodes.size() >= kMostNodes) {
        return {};
      }
      last = node.output;
      extension.nodes.push_back(n);
      extension.copies.push_back(inner.copies);
      inners[last] = std::move(inner);
      is_whole = readers.empty() && free_transpose(node) == nullptr;
    }
    return extension;
  }

  // What the node gives inside a group with these tensors; no copies where it may not join them.
  Inner inner_of(const GraphNode& node, const Inners& inners) const {
    if (const TransposeOp* transpose = free_transpose(node)) {
      const Inner& operand = inners.at(node.inputs[0]);
      Inner result{operand.copies, {}};
      for (const size_t axis : transpose->order) result.axes.push_back(operand.axes[axis]);
      return result;
    }
    if (!is_elementwise_node(node)) return {};
    Inner result;
    for (const auto& [operand, inner] : inners) {
      if (std::ranges::find(node.inputs, operand) == node.inputs.end()) continue;
      if (graph_.tensors[operand].type.shape != graph_.tensors[node.output].type.shape) return {};
      if (!result.axes.empty() && result.axes != inner.axes) return {};
      result.axes = inner.axes;
      result.copies += inner.copies * copies_of(graph_, node, operand);
    }
    return result;
  }

  int64_t most_copies(const GraphNode& node) const {
    int64_t most = 1;
    for (TensorId operand : node.inputs) most = std::max(most, copies_of(graph_, node, operand));
    return most;
  }

  int64_t work(size_t group) const { return work_of(graph_, graph_.nodes[groups_[group].anchors.front()]); }

  // Puts the slices that the group's nodes read through before what reads them.
  void take_in_slices(FusedGroup& group) const {
    std::set<size_t> nodes(group.nodes.begin(), group.nodes.end());
    for (const size_t n : group.nodes) {
      for (const TensorId id : graph_.nodes[n].inputs) {
        const int producer = producers_[id];
        if (producer >= 0 && is_read_through_[static_cast<size_t>(producer)])
          nodes.insert(static_cast<size_t>(producer));
      }
    }
    group.nodes.assign(nodes.begin(), nodes.end());
  }

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
  const LayoutPlan& plan_;
  std::vector<int> producers_;
  std::vector<std::vector<size_t>> consumers_;
  std::vector<bool> is_read_through_;         // for each node
  std::vector<std::optional<size_t>> loops_;  // that each node stands in, innermost
  std::vector<size_t> group_of_;              // of each node
  std::vector<FusedGroup> groups_;
  std::vector<int64_t> copies_;  // of its group's anchor's value in each tensor's expression
};

}  // namespace

std::vector<FusedGroup> fuse(const Graph& graph, const LayoutPlan& plan) { return Fuser(graph, plan).run(); }

}  // namespace lathe
