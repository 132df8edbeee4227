#include "graph/operators/normalise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "expr/walk.h"
#include "graph/onnx/node.h"
#include "graph/operators/reduce.h"
#include "ops/axes.h"

namespace lathe {
namespace {

constexpr double kDeviationEpsilon = 1e-9;  // ONNX's for MeanVarianceNormalization

// x without its mean along the axes, and its variance there.
struct Moments {
  Values centred;
  Values variance;
};

Moments moments_of(const Values& x, const std::vector<size_t>& axes) {
  const Values mean = reduce_values(x, axes, ReduceFunction::mean);
  Values centred = zip_values(x, mean, std::minus<>());
  Values variance = reduce_values(centred, axes, ReduceFunction::sum_square);
  for (double& sum : variance.data) sum /= static_cast<double>(elements_along(axes, x.shape));
  return {std::move(centred), std::move(variance)};
}

Values standardised(const Values& x, const std::vector<size_t>& axes, double epsilon) {
  const Moments moments = moments_of(x, axes);
  return zip_values(moments.centred, moments.variance,
                    [&](double centred, double variance) { return centred / std::sqrt(variance + epsilon); });
}

// The axes in which a normalisation works: those of its operand, but as one what it takes together and what
// lies side by side, so that vectors run along all of it.
struct FoldedAxes {
  std::vector<Axis> own;  // the operand's
  std::vector<Axis> axes;
  std::vector<size_t> over;     // those taken together
  std::vector<Affine> operand;  // the operand's index at these axes
  std::vector<Affine> folded;   // the index of these axes at the operand's
  bool is_operands_own = true;  // nothing is folded

  void add(const Axis& axis, const Affine& in_operand, const Affine& in_folded) {
    axes.push_back(axis);
    operand.push_back(in_operand);
    folded.push_back(in_folded);
  }
  // Several of the operand's axes, which are taken together.
  void add_run(std::span<const Axis> run) {
    over.push_back(axes.size());
    if (run.size() == 1) return add(run[0], run[0].var, run[0].var);
    int64_t places = 1;
    for (const Axis& axis : run) places *= axis.extent;
    const Axis whole = spatial("s" + run[0].var.name(), places);
    Affine place(0);
    int64_t behind = places;
    for (const Axis& axis : run) {
      behind /= axis.extent;
      const Affine digits = floor_div(whole.var, behind);
      operand.push_back(&axis == &run[0] ? digits : modulo(digits, axis.extent));
      place += Affine(axis.var) * behind;
    }
    axes.push_back(whole);
    folded.push_back(place);
    is_operands_own = false;
  }
};

FoldedAxes folded_axes(const Tensor& x, const std::vector<size_t>& over) {
  FoldedAxes folded;
  folded.own = axes_of(x);
  const std::vector<Axis>& axes = folded.own;
  for (size_t d = 0; d < axes.size();) {
    size_t end = d;
    while (end < axes.size() && std::ranges::find(over, end) != over.end()) ++end;
    if (end == d) {
      folded.add(axes[d], axes[d].var, axes[d].var);
      ++d;
    } else {
      folded.add_run(std::span(axes).subspan(d, end - d));
      d = end;
    }
  }
  return folded;
}

// Of [N, C, ..]: the channels of one group and all that lies behind them.
FoldedAxes folded_groups(const Tensor& x, int64_t groups) {
  FoldedAxes folded;
  folded.own = axes_of(x);
  const std::vector<Axis>& axes = folded.own;
  const int64_t channels = axes[1].extent / groups;
  folded.add(axes[0], axes[0].var, axes[0].var);
  const Axis group = spatial("g", groups);
  folded.add(group, Affine(group.var) * channels, floor_div(axes[1].var, channels));
  if (channels > 1) {
    const Axis inside = spatial("m", channels);
    folded.over.push_back(folded.axes.size());
    folded.axes.push_back(inside);
    folded.operand[1] += inside.var;
    folded.folded.push_back(modulo(axes[1].var, channels));
    folded.is_operands_own = false;
  }
  folded.add_run(std::span(axes).subspan(2));
  return folded;
}

// The same as computes: an element of x without its mean, and the variance there.
struct MomentExprs {
  Expr centred;
  Tensor variance;
};

MomentExprs moments_of(DagBuilder& builder, const Tensor& x, const FoldedAxes& folded,
                       const Reducing& reducing) {
  int64_t count = 1;
  for (const Axis& axis : reducing.over) count *= axis.extent;
  const Expr share = real(1 / static_cast<double>(count));
  Substitution reduced;
  for (size_t d = 0; d < folded.axes.size(); ++d)
    reduced.emplace_back(folded.axes[d].var, reducing.operand[d]);
  std::vector<Affine> summed;
  for (const Affine& index : folded.operand) summed.push_back(substitute(index, reduced));
  const Tensor total = builder.compute("total", reducing.result, sum(reducing.over, load(x, summed)));
  const Tensor mean = builder.compute("mean", reducing.result, load(total, indices(reducing.result)) * share);
  const Tensor centred =
      builder.compute("centred", folded.axes, load(x, folded.operand) - load(mean, reducing.reduced));
  const Expr element = load(centred, reducing.operand);
  const Tensor squares = builder.compute("squares", reducing.result, sum(reducing.over, element * element));
  return {load(centred, indices(folded.axes)),
          builder.compute("variance", reducing.result, load(squares, indices(reducing.result)) * share)};
}

// An element of x over the deviation there.
Expr standardised(DagBuilder& builder, const Tensor& x, const FoldedAxes& folded, double epsilon,
                  double epsilon_of_deviation = 0) {
  const Reducing reducing(folded.axes, folded.over, false);
  const auto [centred, variance] = moments_of(builder, x, folded, reducing);
  Expr root = load(variance, indices(reducing.result));
  root = epsilon_of_deviation == 0 ? sqrt(root + real(epsilon)) : sqrt(root) + real(epsilon_of_deviation);
  // One division for all that is normalised together: that of each element took most of the time.
  const Tensor inverse = builder.compute("inverse", reducing.result, real(1) / root);
  return centred * load(inverse, reducing.reduced);
}

// What is computed in folded axes in the operand's own.
Tensor unfolded(DagBuilder& builder, const FoldedAxes& folded, const Expr& value) {
  if (folded.is_operands_own) return builder.compute("normalised", folded.axes, value);
  const Tensor result = builder.compute("folded", folded.axes, value);
  return builder.compute("normalised", folded.own, load(result, folded.folded));
}

// The element of a factor, which broadcasts to the operand, at this index of it.
Expr factor_at(const Tensor& factor, const Tensor& x, const std::vector<Affine>& operand) {
  const size_t skipped = x->shape.size() - factor->shape.size();
  std::vector<Affine> index;
  for (size_t d = 0; d < factor->shape.size(); ++d)
    index.push_back(factor->shape[d] == x->shape[skipped + d] ? operand[skipped + d] : Affine(0));
  return load(factor, std::move(index));
}

int64_t groups_of(const GroupNormOp& op, int64_t channels) { return op.groups == 0 ? channels : op.groups; }

}  // namespace

const char* GroupNormOp::name() const { return groups == 0 ? "InstanceNormalization" : "GroupNormalization"; }

std::string attributes_of(const LayerNormOp& op) {
  return fmt::format("axis {}, epsilon {}", op.axis, op.epsilon);
}
std::string attributes_of(const GroupNormOp& op) {
  return (op.groups == 0 ? "" : fmt::format("groups {}, ", op.groups)) +
         fmt::format("epsilon {}", op.epsilon);
}
std::string attributes_of(const MeanVarianceNormOp& op) {
  return fmt::format("axes [{}]", fmt::join(op.axes, ","));
}
std::string attributes_of(const LpNormOp& op) {
  return fmt::format("axis {}, {}", op.axis, op.squares ? "squares" : "magnitudes");
}

Result<TensorType> infer(const LayerNormOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  const Shape& shape = inputs[0].shape;
  LATHE_TRY_STATUS(check_axes({op.axis}, shape));
  for (const TensorType& factor : inputs.subspan(1)) {
    const Result<Shape> joined = broadcast_shapes(factor.shape, shape);
    if (joined && *joined == shape) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} does not broadcast to {}", to_string(factor.shape), to_string(shape)));
  }
  return inputs[0];
}

Result<TensorType> infer(const GroupNormOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  const Shape& shape = inputs[0].shape;
  if (shape.size() < 3)
    return fail(ErrorKind::invalid_argument, fmt::format("{} is not [N, C, ..]", to_string(shape)));
  const int64_t groups = groups_of(op, shape[1]);
  if (groups < 1 || shape[1] % groups != 0) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the {} channels of {} are not {} groups", shape[1], to_string(shape), groups));
  }
  for (const TensorType& factor : inputs.subspan(1)) {
    if (factor.shape == Shape{shape[1]} || factor.shape == Shape{groups}) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} has no element for each of {} channels", to_string(factor.shape), shape[1]));
  }
  return inputs[0];
}

Result<TensorType> infer(const MeanVarianceNormOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  if (op.axes.empty()) return fail(ErrorKind::invalid_argument, "it names no axes");
  LATHE_TRY_STATUS(check_axes(op.axes, inputs[0].shape));
  return inputs[0];
}

Result<TensorType> infer(const LpNormOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  LATHE_TRY_STATUS(check_axes({op.axis}, inputs[0].shape));
  return inputs[0];
}

Values evaluate(const LayerNormOp& op, std::span<const Values> inputs) {
  Values result = standardised(inputs[0], axes_from(op.axis, inputs[0].shape.size()), op.epsilon);
  result = zip_values(result, inputs[1], std::multiplies<>());
  return inputs.size() > 2 ? zip_values(result, inputs[2], std::plus<>()) : result;
}

Values evaluate(const GroupNormOp& op, std::span<const Values> inputs) {
  const Shape& shape = inputs[0].shape;
  const int64_t groups = groups_of(op, shape[1]);
  const int64_t channels = shape[1] / groups;
  const Values grouped{{shape[0], groups, channels, elements_of(shape) / shape[0] / shape[1]},
                       inputs[0].data};
  const auto factor = [&](const Values& values) {
    const bool is_of_channels = values.shape[0] == shape[1];
    return Values{{groups, is_of_channels ? channels : 1, 1}, values.data};
  };
  Values result = standardised(grouped, {2, 3}, op.epsilon);
  result = zip_values(result, factor(inputs[1]), std::multiplies<>());
  result = zip_values(result, factor(inputs[2]), std::plus<>());
  return {shape, std::move(result.data)};
}

Values evaluate(const MeanVarianceNormOp& op, std::span<const Values> inputs) {
  const Moments moments = moments_of(inputs[0], op.axes);
  return zip_values(moments.centred, moments.variance, [](double centred, double variance) {
    return centred / (std::sqrt(variance) + kDeviationEpsilon);
  });
}

Values evaluate(const LpNormOp& op, std::span<const Values> inputs) {
  const Values norm =
      reduce_values(inputs[0], {op.axis}, op.squares ? ReduceFunction::l2 : ReduceFunction::l1);
  return zip_values(inputs[0], norm, [](double x, double n) { return n == 0 ? 0 : x / n; });
}

Tensor lower(const LayerNormOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const FoldedAxes folded = folded_axes(x, axes_from(op.axis, x->shape.size()));
  Expr value = standardised(builder, x, folded, op.epsilon) * factor_at(operands[1], x, folded.operand);
  if (operands.size() > 2) value = value + factor_at(operands[2], x, folded.operand);
  return unfolded(builder, folded, value);
}

Tensor lower(const GroupNormOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const FoldedAxes folded = folded_groups(x, groups_of(op, x->shape[1]));
  const auto factor = [&](const Tensor& tensor) {
    return load(tensor, {tensor->shape[0] == x->shape[1] ? folded.operand[1] : Affine(folded.axes[1].var)});
  };
  const Expr value = standardised(builder, x, folded, op.epsilon);
  return unfolded(builder, folded, value * factor(operands[1]) + factor(operands[2]));
}

Tensor lower(const MeanVarianceNormOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const FoldedAxes folded = folded_axes(operands[0], op.axes);
  return unfolded(builder, folded, standardised(builder, operands[0], folded, 0, kDeviationEpsilon));
}

Tensor lower(const LpNormOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const std::vector<Axis> axes = axes_of(operands[0]);
  const Reducing reducing(axes, {op.axis}, false);
  const Expr element = load(operands[0], reducing.operand);
  const Tensor total = builder.compute("total", reducing.result,
                                       sum(reducing.over, op.squares ? element * element : abs(element)));
  const Expr sums = load(total, indices(reducing.result));
  const Tensor norm = builder.compute("norm", reducing.result, op.squares ? sqrt(sums) : sums);
  const Expr share = load(norm, reducing.reduced);
  const Expr x = load(operands[0], indices(axes));
  return builder.compute("normalised", axes, select(share == real(0), real(0), x / share));
}

Result<LayerNormOp> import_layer_norm(OnnxNode& node) {
  LayerNormOp op;
  LATHE_TRY(op.axis, axis_of(node.integer("axis", -1), node.shape(0).size()));
  op.epsilon = node.real("epsilon", 1e-5);
  LATHE_TRY_STATUS(require_attribute("stash_type", static_cast<double>(node.integer("stash_type", 1)), 1));
  return op;
}

Result<GroupNormOp> import_group_norm(OnnxNode& node) {
  if (!node.has("num_groups"))
    return fail(ErrorKind::invalid_argument, "it lacks the attribute 'num_groups'");
  const GroupNormOp op{node.integer("num_groups", 1), node.real("epsilon", 1e-5)};
  LATHE_TRY_STATUS(require_attribute("stash_type", static_cast<double>(node.integer("stash_type", 1)), 1));
  const bool of_channels = node.operator_set() >= 21;
  const Shape& shape = node.shape(0);
  const int64_t wanted = of_channels && shape.size() > 1 ? shape[1] : op.groups;
  for (const size_t factor : {size_t{1}, size_t{2}}) {
    if (node.shape(factor) == Shape{wanted}) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("input {} has shape {}, and must be [{}], an element a {} in operator set {}",
                            factor, to_string(node.shape(factor)), wanted, of_channels ? "channel" : "group",
                            node.operator_set()));
  }
  if (op.groups >= 1) return op;
  return fail(ErrorKind::invalid_argument, fmt::format("attribute 'num_groups' is {}", op.groups));
}

Result<GroupNormOp> import_instance_norm(OnnxNode& node) {
  return GroupNormOp{0, node.real("epsilon", 1e-5)};
}

Result<MeanVarianceNormOp> import_mean_variance_norm(OnnxNode& node) {
  LATHE_TRY(std::vector<size_t> axes, axes_of_list(node.integers("axes", {0, 2, 3}), node.shape(0).size()));
  return MeanVarianceNormOp{std::move(axes)};
}

Result<LpNormOp> import_lp_norm(OnnxNode& node) {
  LpNormOp op;
  LATHE_TRY(op.axis, axis_of(node.integer("axis", -1), node.shape(0).size()));
  const int64_t p = node.integer("p", 2);
  op.squares = p == 2;
  if (p == 1 || p == 2) return op;
  return fail(ErrorKind::unsupported, fmt::format("attribute 'p' is {}, and Lathe supports 1 and 2", p));
}

}  // namespace lathe
