#include "network/group_to_dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <span>

#include "expr/walk.h"
#include "graph/stored_types.h"
#include "ops/axes.h"

namespace lathe {

namespace {

constexpr const char* kOutputName = "out";
constexpr const char* kInnerName = "inner";  // of what one part of the group gives the next

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
    std::optional<Tensor> output;
    for (const Part& part : parts()) {
      output = lower_part(part);
      arguments_[result_of(part)] = *output;
    }
    builder_.output(*output);
    LATHE_TRY(Dag dag, builder_.build());
    result_.dag = with_stored_inputs(std::move(dag));
    result_.arguments.insert(result_.arguments.end(), group_.outputs.begin(), group_.outputs.end());
    return std::move(result_);
  }

 private:
  // An anchor and what is computed around it.
  struct Part {
    size_t anchor;
    std::span<const size_t> nodes;
  };

  std::vector<Part> parts() const {
    std::vector<Part> parts;
    for (size_t k = 0; k < group_.anchors.size(); ++k) {
      const bool is_last = k + 1 == group_.anchors.size();
      const size_t end = is_last ? group_.nodes.size() : group_.begins[k + 1];
      const auto nodes = std::span(group_.nodes).subspan(group_.begins[k], end - group_.begins[k]);
      parts.push_back({group_.anchors[k], nodes});
    }
    return parts;
  }
  TensorId result_of(const Part& part) const { return graph_.nodes[part.nodes.back()].output; }

  Tensor lower_part(const Part& part) {
    has_epilogue_ = false;
    const GraphNode& anchor = graph_.nodes[part.anchor];
    const Tensor output = std::visit([&](const auto& op) { return lower_anchor(op, anchor); }, anchor.op);
    return !output.defined() || part.nodes.size() > 1 || has_epilogue_ ? add_epilogue(part, output) : output;
  }

  void add_arguments(const std::vector<TensorId>& ids, const char* prefix) {
    // A copy reads its operand in the result's shape: the elements lie in the same order.
    const GraphNode& anchor = graph_.nodes[group_.anchors.front()];
    const bool is_copy = role_of(anchor.op) == FusionRole::view;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool is_copied = is_copy && ids[i] == anchor.inputs[0];
      const TensorType& type = graph_.tensors[is_copied ? anchor.output : ids[i]].type;
      const DType dtype = is_taken_as_stored(ids[i]) ? type.dtype : info_of(type.dtype).computed_in;
      arguments_[ids[i]] = builder_.input(fmt::format("{}{}", prefix, i), type.shape, dtype);
      stored_.push_back(type.dtype);
      result_.arguments.push_back(ids[i]);
    }
  }

  bool reads(size_t node, TensorId id) const {
    return std::ranges::find(graph_.nodes[node].inputs, id) != graph_.nodes[node].inputs.end();
  }

  // Whether the anchor is lowered for its operands as they are stored: where all come from outside and no
  // other anchor reads one, which might want it widened.
  bool takes_as_stored(size_t node) const {
    const GraphNode& anchor = graph_.nodes[node];
    const auto is_own = [&](TensorId id) {
      const auto gives = [&](size_t other) { return graph_.nodes[other].output == id; };
      const auto shares = [&](size_t other) { return other != node && reads(other, id); };
      return std::ranges::none_of(group_.nodes, gives) && std::ranges::none_of(group_.anchors, shares);
    };
    const auto stored = [&](size_t i) { return graph_.tensors[anchor.inputs[i]].type.dtype; };
    if (!std::ranges::all_of(anchor.inputs, is_own)) return false;
    return keeps_stored_type(anchor.op) || (takes_stored_factors(anchor.op) && stored(0) == stored(1));
  }
  bool is_taken_as_stored(TensorId id) const {
    return std::ranges::any_of(group_.anchors,
                               [&](size_t anchor) { return reads(anchor, id) && takes_as_stored(anchor); });
  }

  // Operators are lowered as if all that they compute of had the type that they compute in: what is stored in
  // another is widened here, where it is read.
  Dag with_stored_inputs(Dag dag) const {
    std::map<const TensorNode*, Tensor> stored;
    for (size_t i = 0; i < dag.inputs.size(); ++i) {
      Tensor& input = dag.inputs[i];
      if (input->dtype == stored_[i]) continue;
      const Tensor narrow(input->name, input->shape, stored_[i]);
      stored.emplace(input.get(), narrow);
      input = narrow;
    }
    const auto widen = [&](const Expr& e) -> Expr {
      const auto* load_of = e.as<Load>();
      if (load_of == nullptr || !stored.contains(load_of->tensor.get())) return {};
      return cast({load_of->tensor->dtype}, load(stored.at(load_of->tensor.get()), load_of->index));
    };
    for (Compute& compute : dag.computes)
      if (!stored.empty()) compute.body = rebuild(compute.body, {widen, nullptr});
    return dag;
  }

  // Of a value of a type that is only stored what is computed of it.
  static Expr widened(const Expr& value) {
    const DType computed_in = info_of(value.type().dtype).computed_in;
    return computed_in == value.type().dtype ? value : cast({computed_in}, value);
  }

  // Those of an anchor, all from outside of its part.
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
      if (value != values.end()) {
        operands.emplace_back(widened(value->second));
        continue;
      }
      const Tensor& argument = arguments_.at(id);
      const bool is_narrow = info_of(argument->dtype).computed_in != argument->dtype;
      if (is_narrow && !keeps_stored_type(node.op))
        operands.emplace_back(widened(PointOperands(axes, {argument}).at(0)));
      else
        operands.emplace_back(argument);
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

  // One compute for all that follows the anchor's computes, over the axes of what the part gives. Behind a
  // Transpose the tensors before it have the same axes in another order.
  Tensor add_epilogue(const Part& part, const Tensor& anchor) {
    const TensorId result = result_of(part);
    const TensorType& type = graph_.tensors[result].type;
    std::map<TensorId, std::vector<Axis>> axes;
    axes[result] = axes_of(Tensor(kOutputName, type.shape, type.dtype));
    for (const size_t n : part.nodes | std::views::reverse) give_axes(graph_.nodes[n], axes);
    std::map<TensorId, Expr> values;  // of nodes of the part
    for (const size_t n : part.nodes) {
      const GraphNode& node = graph_.nodes[n];
      const std::vector<Axis>& own = axes.at(node.output);
      const bool is_anchor = n == part.anchor;
      // A Transpose of what is computed before it in the part.
      if (!is_anchor && std::holds_alternative<TransposeOp>(node.op)) {
        values[node.output] = values.at(node.inputs[0]);
      } else if (const auto* slice = std::get_if<SliceOp>(&node.op); slice != nullptr && !is_anchor) {
        values[node.output] = load(arguments_.at(node.inputs[0]), sliced(*slice, own));  // read through
      } else {
        const Expr computed = is_anchor && anchor.defined() ? load(anchor, indices(own)) : Expr();
        values[node.output] = apply(node, point_of(node, own, values), computed);
      }
    }
    // What a part gives the next one is kept in the type that is computed in.
    const bool is_last = result == group_.outputs[0];
    return builder_.compute(is_last ? kOutputName : builder_.fresh_name(kInnerName), axes.at(result),
                            is_last ? values.at(result) : widened(values.at(result)));
  }

  static std::vector<Affine> sliced(const SliceOp& slice, const std::vector<Axis>& axes) {
    std::vector<Affine> index;
    for (size_t d = 0; d < axes.size(); ++d)
      index.push_back(Affine(axes[d].var) * slice.steps[d] + Affine(slice.starts[d]));
    return index;
  }

  // From the axes of what a node gives those of its operands that the part computes.
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
  std::map<TensorId, Tensor> arguments_;  // and what parts before give
  std::vector<DType> stored_;             // the types in which the Dag's inputs are stored
  bool has_epilogue_ = false;
  GroupDag result_;
};

}  // namespace

Result<GroupDag> group_to_dag(const Graph& graph, const FusedGroup& group) {
  Result<GroupDag> result = GroupLowering(graph, group).run();
  if (!result) {
    const GraphNode& anchor = graph.nodes[group.anchors.front()];
    result.error().message = fmt::format("{}: {}", label_of(anchor), result.error().message);
  }
  return result;
}

}  // namespace lathe
