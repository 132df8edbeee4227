#include "network/group_to_dag.h"

#include <fmt/format.h>

#include <map>
#include <ranges>

#include "ops/axes.h"

namespace lathe {

namespace {

constexpr const char* kOutputName = "out";

// Whether an anchor may have work on each element of its result.
template <class Op>
constexpr bool kHasEpilogue = requires(const Op& op) { needs_epilogue(op, size_t{}); };

// Lowers one group; lives for one call.
class GroupLowering {
 public:
  GroupLowering(const Graph& graph, const FusedGroup& group) : graph_(graph), group_(group) {
    add_arguments(group.inputs, "X");
    add_arguments(group.constants, "W");
    for (const TensorId id : group.constants) result_.constants.push_back(arguments_.at(id)->name);
  }

  Result<GroupDag> run() {
    const GraphNode& anchor = graph_.nodes[group_.anchor];
    Tensor output = std::visit([&](const auto& op) { return lower_anchor(op, anchor); }, anchor.op);
    if (!output.defined() || group_.nodes.size() > 1 || has_epilogue_) output = add_epilogue(output);
    builder_.output(output);
    LATHE_TRY(result_.dag, builder_.build());
    result_.arguments.insert(result_.arguments.end(), group_.outputs.begin(), group_.outputs.end());
    return std::move(result_);
  }

 private:
  void add_arguments(const std::vector<TensorId>& ids, const char* prefix) {
    // A copy reads its operand in the result's shape: the elements lie in the same order.
    const GraphNode& anchor = graph_.nodes[group_.anchor];
    const bool is_copy = role_of(anchor.op) == FusionRole::view;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool is_copied = is_copy && ids[i] == anchor.inputs[0];
      const TensorType& type = graph_.tensors[is_copied ? anchor.output : ids[i]].type;
      arguments_[ids[i]] = builder_.input(fmt::format("{}{}", prefix, i), type.shape, type.dtype);
      result_.arguments.push_back(ids[i]);
    }
  }

  // Those of an anchor, all from outside of the group.
  std::vector<Tensor> operands_of(const GraphNode& node) const {
    std::vector<Tensor> operands;
    for (const TensorId id : node.inputs) operands.push_back(arguments_.at(id));
    return operands;
  }

  // The anchor's own computes; undefined where the group has none but its element-wise work.
  template <class Op>
  Tensor lower_anchor(const Op& op, const GraphNode& node) {
    if constexpr (Op::kRole == FusionRole::anchor) {
      const std::vector<Tensor> operands = operands_of(node);
      if constexpr (kHasEpilogue<Op>) has_epilogue_ = needs_epilogue(op, operands.size());
      return lower(op, builder_, operands);
    } else {
      return {};
    }
  }

  // The node's operands at an element of the group's result: those from outside, and what nodes before it
  // give there.
  PointOperands point_of(const GraphNode& node, const std::vector<Axis>& axes,
                         const std::map<TensorId, Expr>& values) const {
    std::vector<PointOperand> operands;
    for (const TensorId id : node.inputs) {
      const auto value = values.find(id);
      if (value != values.end())
        operands.emplace_back(value->second);
      else
        operands.emplace_back(arguments_.at(id));
    }
    return {axes, std::move(operands)};
  }

  // What an element-wise node or a copy makes of its operands, or an anchor's own epilogue of the value that
  // the anchor's computes give.
  static Expr apply(const GraphNode& node, const PointOperands& point, const Expr& value) {
    const auto apply_op = [&](const auto& op) -> Expr {
      using Op = std::decay_t<decltype(op)>;
      constexpr FusionRole kRole = Op::kRole;
      if constexpr (kHasEpilogue<Op>) {
        return epilogue(op, value, point);
      } else if constexpr (kRole == FusionRole::anchor) {
        return value;
      } else if constexpr (kRole == FusionRole::elementwise) {
        return lower(op, point);
      } else {
        return point.at(0);
      }
    };
    return std::visit(apply_op, node.op);
  }

  // One compute for all that follows the anchor's computes, over the axes of what the group gives. Behind a
  // Transpose the tensors before it have the same axes in another order.
  Tensor add_epilogue(const Tensor& anchor) {
    const TensorType& type = graph_.tensors[group_.outputs[0]].type;
    std::map<TensorId, std::vector<Axis>> axes;
    axes[group_.outputs[0]] = axes_of(Tensor(kOutputName, type.shape, type.dtype));
    for (const size_t n : group_.nodes | std::views::reverse) give_axes(graph_.nodes[n], axes);
    std::map<TensorId, Expr> values;  // of nodes of the group
    for (const size_t n : group_.nodes) {
      const GraphNode& node = graph_.nodes[n];
      const std::vector<Axis>& own = axes.at(node.output);
      if (is_passed_on(n)) {
        values[node.output] = values.at(node.inputs[0]);
      } else if (const auto* slice = read_through(n)) {
        values[node.output] = load(arguments_.at(node.inputs[0]), sliced(*slice, own));
      } else {
        const Expr computed = n == group_.anchor && anchor.defined() ? load(anchor, indices(own)) : Expr();
        values[node.output] = apply(node, point_of(node, own, values), computed);
      }
    }
    return builder_.compute(kOutputName, axes.at(group_.outputs[0]), values.at(group_.outputs[0]));
  }

  // A slice whose elements the group reads in its operand.
  const SliceOp* read_through(size_t n) const {
    return n == group_.anchor ? nullptr : std::get_if<SliceOp>(&graph_.nodes[n].op);
  }
  static std::vector<Affine> sliced(const SliceOp& slice, const std::vector<Axis>& axes) {
    std::vector<Affine> index;
    for (size_t d = 0; d < axes.size(); ++d)
      index.push_back(Affine(axes[d].var) * slice.steps[d] + Affine(slice.starts[d]));
    return index;
  }

  // A Transpose of what is computed before it in the group.
  bool is_passed_on(size_t n) const {
    return n != group_.anchor && std::holds_alternative<TransposeOp>(graph_.nodes[n].op);
  }

  // From the axes of what a node gives those of its operands that the group computes.
  void give_axes(const GraphNode& node, std::map<TensorId, std::vector<Axis>>& axes) const {
    const std::vector<Axis>& own = axes.at(node.output);
    const auto* transpose = std::get_if<TransposeOp>(&node.op);
    for (const TensorId id : node.inputs) {
      if (arguments_.contains(id)) continue;
      std::vector<Axis> ordered = own;
      for (size_t k = 0; transpose != nullptr && k < own.size(); ++k) ordered[transpose->order[k]] = own[k];
      axes[id] = std::move(ordered);
    }
  }

  const Graph& graph_;
  const FusedGroup& group_;
  DagBuilder builder_;
  std::map<TensorId, Tensor> arguments_;
  bool has_epilogue_ = false;
  GroupDag result_;
};

}  // namespace

Result<GroupDag> group_to_dag(const Graph& graph, const FusedGroup& group) {
  Result<GroupDag> result = GroupLowering(graph, group).run();
  if (!result) {
    const GraphNode& anchor = graph.nodes[group.anchor];
    result.error().message =
        fmt::format("node '{}' ({}): {}", anchor.name, name_of(anchor.op), result.error().message);
  }
  return result;
}

}  // namespace lathe
