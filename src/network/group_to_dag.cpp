#include "network/group_to_dag.h"

#include <fmt/format.h>

#include <map>

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
      const TensorType& type = graph_.tensors[is_copy ? anchor.output : ids[i]].type;
      arguments_[ids[i]] = builder_.input(fmt::format("{}{}", prefix, i), type.shape, type.dtype);
      result_.arguments.push_back(ids[i]);
    }
  }

  std::vector<Tensor> operands_of(const GraphNode& node) const {
    std::vector<Tensor> operands;
    for (TensorId id : node.inputs) {
      const auto found = arguments_.find(id);
      operands.push_back(found == arguments_.end() ? Tensor() : found->second);
    }
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

  // What an element-wise node, a copy, or the anchor's own epilogue makes of the value that came before it.
  Expr apply(const GraphNode& node, const std::vector<Axis>& axes, const Expr& value) const {
    const PointOperands point(axes, operands_of(node), value);
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

  // One compute for all that follows the anchor's computes.
  Tensor add_epilogue(const Tensor& anchor) {
    const TensorType& type = graph_.tensors[group_.outputs[0]].type;
    const std::vector<Axis> axes = axes_of(Tensor(kOutputName, type.shape, type.dtype));
    Expr value = anchor.defined() ? load(anchor, indices(axes)) : Expr();
    for (size_t n : group_.nodes) value = apply(graph_.nodes[n], axes, value);
    return builder_.compute(kOutputName, axes, value);
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
