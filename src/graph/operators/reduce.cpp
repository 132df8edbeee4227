#include "graph/operators/reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/integers.h"
#include "graph/onnx/node.h"

namespace lathe {
namespace {

bool contains(const std::vector<size_t>& axes, size_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
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

double start_of(ReduceFunction function) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (function == ReduceFunction::max) return -kInfinity;
  if (function == ReduceFunction::product) return 1;
  return function == ReduceFunction::min ? kInfinity : 0;
}

double combine(ReduceFunction function, double sum, double x) {
  switch (function) {
    case ReduceFunction::sum:
    case ReduceFunction::mean:
    case ReduceFunction::log_sum: return sum + x;
    case ReduceFunction::log_sum_exp: return sum + std::exp(x);
    case ReduceFunction::max: return maximum(sum, x);
    case ReduceFunction::min: return minimum(sum, x);
    case ReduceFunction::l1: return sum + std::abs(x);
    case ReduceFunction::l2:
    case ReduceFunction::sum_square: return sum + x * x;
    case ReduceFunction::product: return sum * x;
  }
  return sum;
}

// Of integers, which wrap around: products of 32 bits, and sums of 64, are more than a double holds.
Values reduce_integers(const Values& x, const std::vector<size_t>& axes, ReduceFunction function) {
  Values result{reduced_shape(axes, x.shape, true), {}, x.dtype};
  const uint64_t start = function == ReduceFunction::product ? 1 : 0;
  std::vector<uint64_t> sums(static_cast<size_t>(elements_of(result.shape)), start);
  Shape index(x.shape.size(), 0);
  size_t place = 0;
  do {
    uint64_t& sum = sums[static_cast<size_t>(broadcast_offset(result.shape, index))];
    const int64_t signed_element = cut_to(x.dtype, x.data[place++]);
    const auto element = static_cast<uint64_t>(signed_element);
    switch (function) {
      case ReduceFunction::product: sum *= element; break;
      case ReduceFunction::sum_square: sum += element * element; break;
      case ReduceFunction::l1:
        sum += signed_element < 0 && !is_unsigned(x.dtype) ? 0 - element : element;
        break;
      default: sum += element; break;
    }
  } while (next_index(index, x.shape));
  for (const uint64_t sum : sums)
    result.data.push_back(number_kept(x.dtype, wrap_to(x.dtype, static_cast<int64_t>(sum))));
  return result;
}

ReduceExpr reduction_of(ReduceFunction function, const std::vector<Axis>& over, const Expr& x) {
  switch (function) {
    case ReduceFunction::sum:
    case ReduceFunction::mean:
    case ReduceFunction::log_sum: return sum(over, x);
    case ReduceFunction::log_sum_exp: return sum(over, exp(x));
    case ReduceFunction::max: return max_over(over, x);
    case ReduceFunction::min: return min_over(over, x);
    case ReduceFunction::l1: return sum(over, abs(x));
    case ReduceFunction::l2:
    case ReduceFunction::sum_square: return sum(over, x * x);
    case ReduceFunction::product: return product_over(over, x);
  }
  return sum(over, x);
}

// What a reduction of one element gives.
Expr reduced_alone(ReduceFunction function, const Expr& x) {
  switch (function) {
    case ReduceFunction::sum:
    case ReduceFunction::mean:
    case ReduceFunction::max:
    case ReduceFunction::min:
    case ReduceFunction::product:
    case ReduceFunction::log_sum_exp: return x;
    case ReduceFunction::l1:
    case ReduceFunction::l2: return abs(x);
    case ReduceFunction::sum_square: return x * x;
    case ReduceFunction::log_sum: return log(x);
  }
  return x;
}

// log of the sum of exp(x): shift + log(sum of exp(x - shift)) with the largest element as shift, so that
// only the result can overflow; 0 where that is infinite, of which x - shift would make NaN.
Values log_sum_exp(const Values& x, const std::vector<size_t>& axes) {
  Values shift = reduce_values(x, axes, ReduceFunction::max);
  for (double& largest : shift.data) largest = std::isfinite(largest) ? largest : 0;
  Values result = reduce_values(zip_values(x, shift, std::minus<>()), axes, ReduceFunction::log_sum_exp);
  return zip_values(result, shift, [](double sum, double largest) { return std::log(sum) + largest; });
}

Tensor log_sum_exp(DagBuilder& builder, const Reducing& reducing, const Expr& element) {
  const double largest = largest_of(element.type().dtype);
  const Tensor most = builder.compute("most", reducing.result, max_over(reducing.over, element));
  const std::vector<Affine> at = indices(reducing.result);
  const Tensor shift = builder.compute("shift", reducing.result,
                                       select(abs(load(most, at)) <= real(largest), load(most, at), real(0)));
  const Tensor total =
      builder.compute("total", reducing.result,
                      reduction_of(ReduceFunction::log_sum_exp, reducing.over, element - load(shift, at)));
  return builder.compute("logarithm", reducing.result, log(load(total, at)) + load(shift, at));
}

// [N, C, ..] along all but the first two.
Result<ReduceOp> global_pool(const Shape& shape, ReduceFunction function) {
  if (shape.size() < 3)
    return fail(ErrorKind::invalid_argument, fmt::format("{} is not [N, C, ..]", to_string(shape)));
  return ReduceOp{function, axes_from(2, shape.size()), true};
}

}  // namespace

Status check_axes(const std::vector<size_t>& axes, const Shape& shape) {
  if (axes.empty() || axes.back() < shape.size()) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(shape), axes.back()));
}

int64_t elements_along(const std::vector<size_t>& axes, const Shape& shape) {
  int64_t count = 1;
  for (const size_t axis : axes) count *= shape[axis];
  return count;
}

// Those of f32 alone divide, or take roots, exponentials or logarithms.
bool takes_integers(ReduceFunction function) {
  switch (function) {
    case ReduceFunction::sum:
    case ReduceFunction::max:
    case ReduceFunction::min:
    case ReduceFunction::product:
    case ReduceFunction::l1:
    case ReduceFunction::sum_square: return true;
    case ReduceFunction::mean:
    case ReduceFunction::l2:
    case ReduceFunction::log_sum:
    case ReduceFunction::log_sum_exp: return false;
  }
  return false;
}

Values reduce_values(const Values& x, const std::vector<size_t>& axes, ReduceFunction function) {
  const bool chooses = function == ReduceFunction::max || function == ReduceFunction::min;
  if (is_integer(x.dtype) && !chooses) return reduce_integers(x, axes, function);
  Values result{reduced_shape(axes, x.shape, true), {}, x.dtype};
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

Reducing::Reducing(const std::vector<Axis>& axes, const std::vector<size_t>& reduced_axes, bool keeps) {
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

const char* ReduceOp::name() const {
  switch (function) {
    case ReduceFunction::sum: return "ReduceSum";
    case ReduceFunction::mean: return "ReduceMean";
    case ReduceFunction::max: return "ReduceMax";
    case ReduceFunction::min: return "ReduceMin";
    case ReduceFunction::l1: return "ReduceL1";
    case ReduceFunction::l2: return "ReduceL2";
    case ReduceFunction::sum_square: return "ReduceSumSquare";
    case ReduceFunction::product: return "ReduceProd";
    case ReduceFunction::log_sum: return "ReduceLogSum";
    case ReduceFunction::log_sum_exp: return "ReduceLogSumExp";
  }
  return "";
}

const char* SoftmaxOp::name() const { return logarithm ? "LogSoftmax" : "Softmax"; }

std::string attributes_of(const ReduceOp& op) {
  return fmt::format("axes [{}]{}", fmt::join(op.axes, ","), op.keeps_axes ? "" : ", dropped");
}
std::string attributes_of(const SoftmaxOp& op) { return fmt::format("axes [{}]", fmt::join(op.axes, ",")); }

Result<TensorType> infer(const ReduceOp& op, std::span<const TensorType> inputs) {
  const DType dtype = inputs[0].dtype;
  if (!takes_integers(op.function)) LATHE_TRY_STATUS(require_reals(inputs));
  LATHE_TRY_STATUS(require_type(inputs[0], 0, is_number(dtype), "f32, f64 and integers"));
  LATHE_TRY_STATUS(check_axes(op.axes, inputs[0].shape));
  return TensorType{dtype, reduced_shape(op.axes, inputs[0].shape, op.keeps_axes)};
}

Result<TensorType> infer(const SoftmaxOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  LATHE_TRY_STATUS(check_axes(op.axes, inputs[0].shape));
  return inputs[0];
}

Values evaluate(const ReduceOp& op, std::span<const Values> inputs) {
  Values result = op.function == ReduceFunction::log_sum_exp ? log_sum_exp(inputs[0], op.axes)
                                                             : reduce_values(inputs[0], op.axes, op.function);
  if (op.function == ReduceFunction::log_sum)
    for (double& sum : result.data) sum = std::log(sum);
  result.shape = reduced_shape(op.axes, inputs[0].shape, op.keeps_axes);
  return result;
}

namespace {

// The least x whose exp(x), divided by a sum of as many as `terms` of them, one of which is 1, is a number of
// f32 that processors multiply at full speed. Shares below that, of masked scores above all, are taken for 0:
// they are less than 1e-32 of the largest, and each makes a product of it take a hundred times as long.
double least_exponent(int64_t terms) {
  constexpr double kLeastNormal = std::numeric_limits<float>::min();
  return std::log(kLeastNormal * static_cast<double>(terms));
}

// exp(x) of an x that is no more than 0, or 0 below that. The operand's bounds stand there: between them exp
// takes half as long (lower/arithmetic/expand_math.h).
Expr exp_of_share(const Expr& x, int64_t terms) {
  if (x.type().dtype != DType::f32) return exp(x);
  const Expr least = real(least_exponent(terms));
  return select(x < least, real(0), exp(max(min(x, real(0)), least)));
}

}  // namespace

Values evaluate(const SoftmaxOp& op, std::span<const Values> inputs) {
  const Values largest = reduce_values(inputs[0], op.axes, ReduceFunction::max);
  const Values shifted = zip_values(inputs[0], largest, std::minus<>());
  Values scaled = shifted;
  const double least =
      shifted.dtype == DType::f32 ? least_exponent(elements_along(op.axes, shifted.shape)) : -HUGE_VAL;
  for (double& x : scaled.data) x = x < least ? 0 : std::exp(x);
  const Values total = reduce_values(scaled, op.axes, ReduceFunction::sum);
  if (!op.logarithm) return zip_values(scaled, total, std::divides<>());
  return zip_values(shifted, total, [](double x, double sum) { return x - std::log(sum); });
}

Tensor lower(const ReduceOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Reducing reducing(axes_of(operands[0]), op.axes, op.keeps_axes);
  const Expr element = load(operands[0], reducing.operand);
  if (reducing.over.empty())
    return builder.compute("reduced", reducing.result, reduced_alone(op.function, element));
  if (op.function == ReduceFunction::log_sum_exp) return log_sum_exp(builder, reducing, element);
  const Tensor total =
      builder.compute("reduced", reducing.result, reduction_of(op.function, reducing.over, element));
  const Expr value = load(total, indices(reducing.result));
  if (op.function == ReduceFunction::mean) {
    const auto count = static_cast<double>(elements_along(op.axes, operands[0]->shape));
    return builder.compute("mean", reducing.result, value * real(1 / count));
  }
  if (op.function == ReduceFunction::log_sum)
    return builder.compute("logarithm", reducing.result, log(value));
  return op.function == ReduceFunction::l2 ? builder.compute("norm", reducing.result, sqrt(value)) : total;
}

Tensor lower(const SoftmaxOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const std::vector<Axis> axes = axes_of(x);
  const Reducing reducing(axes, op.axes, false);
  const Tensor largest =
      builder.compute("largest", reducing.result, max_over(reducing.over, load(x, reducing.operand)));
  const Expr shifted = load(x, indices(axes)) - load(largest, reducing.reduced);
  const Tensor scaled =
      builder.compute("scaled", axes, exp_of_share(shifted, elements_along(op.axes, x->shape)));
  const Tensor total =
      builder.compute("total", reducing.result, sum(reducing.over, load(scaled, reducing.operand)));
  const Expr share = load(total, reducing.reduced);
  if (op.logarithm) return builder.compute("softmax", axes, shifted - log(share));
  return builder.compute("softmax", axes, load(scaled, indices(axes)) / share);
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

Result<ReduceOp> import_global_max_pool(OnnxNode& node) {
  return global_pool(node.shape(0), ReduceFunction::max);
}

Result<ReduceOp> import_global_lp_pool(OnnxNode& node) {
  return global_pool(node.shape(0), node.integer("p", 2) == 2 ? ReduceFunction::l2 : ReduceFunction::l1);
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

}  // namespace lathe
