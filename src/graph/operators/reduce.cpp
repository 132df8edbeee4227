#include "graph/operators/reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/onnx_node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

bool contains(const std::vector<size_t>& axes, size_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

std::vector<size_t> axes_from(size_t first, size_t rank) {
  std::vector<size_t> axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Status check_axes(const std::vector<size_t>& axes, const Shape& shape) {
  if (axes.empty() || axes.back() < shape.size()) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(shape), axes.back()));
}

Shape reduced_shape(const std::vector<size_t>& axes, const Shape& shape, bool keeps) {
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!contains(axes, d)) {
      result.push_back(shape[d]);
    } else if (keeps) {
      result.push_back(1);
    }
  }
  return result;
}

int64_t elements_along(const std::vector<size_t>& axes, const Shape& shape) {
  int64_t count = 1;
  for (const size_t axis : axes) count *= shape[axis];
  return count;
}

double start_of(ReduceFunction function) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (function == ReduceFunction::max) return -kInfinity;
  return function == ReduceFunction::min ? kInfinity : 0;
}

double combine(ReduceFunction function, double sum, double x) {
  switch (function) {
    case ReduceFunction::sum:
    case ReduceFunction::mean: return sum + x;
    case ReduceFunction::max: return std::max(sum, x);
    case ReduceFunction::min: return std::min(sum, x);
    case ReduceFunction::l1: return sum + std::abs(x);
    case ReduceFunction::l2:
    case ReduceFunction::sum_square: return sum + x * x;
  }
  return sum;
}

// The axes that stay with one place each.
Values reduce_values(const Values& x, const std::vector<size_t>& axes, ReduceFunction function) {
  Values result{reduced_shape(axes, x.shape, true), {}};
  result.data.assign(static_cast<size_t>(elements_of(result.shape)), start_of(function));
  Shape index(x.shape.size(), 0);
  size_t place = 0;
  do {
    double& sum = result.data[static_cast<size_t>(broadcast_offset(result.shape, index))];
    sum = combine(function, sum, x.data[place++]);
  } while (next_index(index, x.shape));
  for (double& sum : result.data) {
    if (function == ReduceFunction::mean) sum /= static_cast<double>(elements_along(axes, x.shape));
    if (function == ReduceFunction::l2) sum = std::sqrt(sum);
  }
  return result;
}

// f(x, y) of each element of x and the one of y that broadcasts to it.
template <class Function>
Values zip_values(const Values& x, const Values& y, Function f) {
  Values result{x.shape, {}};
  Shape index(x.shape.size(), 0);
  size_t place = 0;
  do {
    result.data.push_back(f(x.data[place++], y.data[static_cast<size_t>(broadcast_offset(y.shape, index))]));
  } while (next_index(index, x.shape));
  return result;
}

// A reduction in the making: reduce axes in some of the operand's places.
struct Reducing {
  std::vector<Axis> result;  // the axes of the result
  std::vector<Axis> over;
  std::vector<Affine> operand;  // index of the operand, over both
  std::vector<Affine> reduced;  // index of the result from axes of the operand's shape

  Reducing(const std::vector<Axis>& axes, const std::vector<size_t>& reduced_axes, bool keeps) {
    for (size_t d = 0; d < axes.size(); ++d) {
      if (!contains(reduced_axes, d)) {
        result.push_back(axes[d]);
        operand.emplace_back(axes[d].var);
        reduced.emplace_back(axes[d].var);
        continue;
      }
      over.push_back(reduce("r" + axes[d].var.name(), axes[d].extent));
      operand.emplace_back(over.back().var);
      if (!keeps) continue;
      result.push_back(spatial(axes[d].var.name(), 1));
      reduced.emplace_back(0);
    }
  }
};

Expr real(double value) { return literal({DType::f32}, value); }

ReduceExpr reduction_of(ReduceFunction function, const std::vector<Axis>& over, const Expr& x) {
  switch (function) {
    case ReduceFunction::sum:
    case ReduceFunction::mean: return sum(over, x);
    case ReduceFunction::max: return max_over(over, x);
    case ReduceFunction::min: return min_over(over, x);
    case ReduceFunction::l1: return sum(over, abs(x));
    case ReduceFunction::l2:
    case ReduceFunction::sum_square: return sum(over, x * x);
  }
  return sum(over, x);
}

}  // namespace

const char* ReduceOp::name() const {
  switch (function) {
    case ReduceFunction::sum: return "ReduceSum";
    case ReduceFunction::mean: return "ReduceMean";
    case ReduceFunction::max: return "ReduceMax";
    case ReduceFunction::min: return "ReduceMin";
    case ReduceFunction::l1: return "ReduceL1";
    case ReduceFunction::l2: return "ReduceL2";
    case ReduceFunction::sum_square: return "ReduceSumSquare";
  }
  return "";
}

const char* SoftmaxOp::name() const { return logarithm ? "LogSoftmax" : "Softmax"; }

std::string attributes_of(const ReduceOp& op) {
  return fmt::format("axes [{}]{}", fmt::join(op.axes, ","), op.keeps_axes ? "" : ", dropped");
}
std::string attributes_of(const SoftmaxOp& op) { return fmt::format("axes [{}]", fmt::join(op.axes, ",")); }
std::string attributes_of(const LayerNormOp& op) {
  return fmt::format("axis {}, epsilon {}", op.axis, op.epsilon);
}

Result<TensorType> infer(const ReduceOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  LATHE_TRY_STATUS(check_axes(op.axes, inputs[0].shape));
  return TensorType{DType::f32, reduced_shape(op.axes, inputs[0].shape, op.keeps_axes)};
}

Result<TensorType> infer(const SoftmaxOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  LATHE_TRY_STATUS(check_axes(op.axes, inputs[0].shape));
  return inputs[0];
}

Result<TensorType> infer(const LayerNormOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
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

Values evaluate(const ReduceOp& op, std::span<const Values> inputs) {
  Values result = reduce_values(inputs[0], op.axes, op.function);
  result.shape = reduced_shape(op.axes, inputs[0].shape, op.keeps_axes);
  return result;
}

Values evaluate(const SoftmaxOp& op, std::span<const Values> inputs) {
  const Values largest = reduce_values(inputs[0], op.axes, ReduceFunction::max);
  const Values shifted = zip_values(inputs[0], largest, std::minus<>());
  Values scaled = shifted;
  for (double& x : scaled.data) x = std::exp(x);
  const Values total = reduce_values(scaled, op.axes, ReduceFunction::sum);
  if (!op.logarithm) return zip_values(scaled, total, std::divides<>());
  return zip_values(shifted, total, [](double x, double sum) { return x - std::log(sum); });
}

Values evaluate(const LayerNormOp& op, std::span<const Values> inputs) {
  const std::vector<size_t> axes = axes_from(op.axis, inputs[0].shape.size());
  const Values mean = reduce_values(inputs[0], axes, ReduceFunction::mean);
  const Values centred = zip_values(inputs[0], mean, std::minus<>());
  Values squares = centred;
  for (double& x : squares.data) x *= x;
  const Values variance = reduce_values(squares, axes, ReduceFunction::mean);
  Values result = zip_values(centred, variance,
                             [&](double x, double square) { return x / std::sqrt(square + op.epsilon); });
  result = zip_values(result, inputs[1], std::multiplies<>());
  return inputs.size() > 2 ? zip_values(result, inputs[2], std::plus<>()) : result;
}

Tensor lower(const ReduceOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Reducing reducing(axes_of(operands[0]), op.axes, op.keeps_axes);
  const Expr element = load(operands[0], reducing.operand);
  if (reducing.over.empty()) {
    const bool squares = op.function == ReduceFunction::sum_square;
    const bool magnitude = op.function == ReduceFunction::l1 || op.function == ReduceFunction::l2;
    return builder.compute("reduced", reducing.result,
                           squares     ? element * element
                           : magnitude ? abs(element)
                                       : element);
  }
  const Tensor total =
      builder.compute("reduced", reducing.result, reduction_of(op.function, reducing.over, element));
  const Expr value = load(total, indices(reducing.result));
  if (op.function == ReduceFunction::mean) {
    const auto count = static_cast<double>(elements_along(op.axes, operands[0]->shape));
    return builder.compute("mean", reducing.result, value * real(1 / count));
  }
  return op.function == ReduceFunction::l2 ? builder.compute("norm", reducing.result, sqrt(value)) : total;
}

Tensor lower(const SoftmaxOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const std::vector<Axis> axes = axes_of(x);
  const Reducing reducing(axes, op.axes, false);
  const Tensor largest =
      builder.compute("largest", reducing.result, max_over(reducing.over, load(x, reducing.operand)));
  const Expr shifted = load(x, indices(axes)) - load(largest, reducing.reduced);
  const Tensor scaled = builder.compute("scaled", axes, exp(shifted));
  const Tensor total =
      builder.compute("total", reducing.result, sum(reducing.over, load(scaled, reducing.operand)));
  const Expr share = load(total, reducing.reduced);
  if (op.logarithm) return builder.compute("softmax", axes, shifted - log(share));
  return builder.compute("softmax", axes, load(scaled, indices(axes)) / share);
}

Tensor lower(const LayerNormOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const std::vector<Axis> axes = axes_of(x);
  const std::vector<size_t> over = axes_from(op.axis, axes.size());
  const Reducing reducing(axes, over, false);
  const Expr share = real(1 / static_cast<double>(elements_along(over, x->shape)));
  const Tensor total =
      builder.compute("total", reducing.result, sum(reducing.over, load(x, reducing.operand)));
  const Tensor mean = builder.compute("mean", reducing.result, load(total, indices(reducing.result)) * share);
  const Tensor centred =
      builder.compute("centred", axes, load(x, indices(axes)) - load(mean, reducing.reduced));
  const Expr element = load(centred, reducing.operand);
  const Tensor squares = builder.compute("squares", reducing.result, sum(reducing.over, element * element));
  const Tensor deviation = builder.compute(
      "deviation", reducing.result, sqrt(load(squares, indices(reducing.result)) * share + real(op.epsilon)));
  const PointOperands point(axes, {operands.begin(), operands.end()}, {});
  Expr value = load(centred, indices(axes)) / load(deviation, reducing.reduced) * point.at(1);
  if (point.count() > 2) value = value + point.at(2);
  return builder.compute("normalised", axes, value);
}

Result<ReduceOp> import_reduce(OnnxNode& node, ReduceFunction function) {
  const size_t rank = node.shape(0).size();
  ReduceOp op;
  op.function = function;
  op.keeps_axes = node.integer("keepdims", 1) != 0;
  const bool none_is_none = node.integer("noop_with_empty_axes", 0) != 0;
  LATHE_TRY(const Shape axes, node.integers_of("axes", 1, {}));
  if (axes.empty() && !none_is_none) {
    op.axes = axes_from(0, rank);
    return op;
  }
  LATHE_TRY(op.axes, axes_of_list(axes, rank));
  return op;
}

Result<SoftmaxOp> import_softmax(OnnxNode& node) {
  const size_t rank = node.shape(0).size();
  const bool one_axis = node.operator_set() >= 13;
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", one_axis ? -1 : 1), rank));
  SoftmaxOp op;
  op.axes = one_axis ? std::vector<size_t>{axis} : axes_from(axis, rank);
  return op;
}

Result<SoftmaxOp> import_log_softmax(OnnxNode& node) {
  LATHE_TRY(SoftmaxOp op, import_softmax(node));
  op.logarithm = true;
  return op;
}

Result<LayerNormOp> import_layer_norm(OnnxNode& node) {
  LayerNormOp op;
  LATHE_TRY(op.axis, axis_of(node.integer("axis", -1), node.shape(0).size()));
  op.epsilon = node.real("epsilon", 1e-5);
  LATHE_TRY_STATUS(require_attribute("stash_type", static_cast<double>(node.integer("stash_type", 1)), 1));
  return op;
}

}  // namespace lathe
