#include "graph/operators/arg_extremum.h"

#include <fmt/format.h>

#include <cmath>

#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

Shape reduced_shape(const Shape& shape, size_t axis, bool keeps) {
  Shape result = shape;
  if (keeps) {
    result[axis] = 1;
  } else {
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return result;
}

Status check_operand(size_t axis, const TensorType& type) {
  LATHE_TRY_STATUS(require_type(type, 0, is_number(type.dtype), "f32, f64 and integers"));
  if (axis < type.shape.size()) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(type.shape), axis));
}

// Whether `x` takes the place of what was found so far.
bool is_better(const ArgExtremumOp& op, double x, double so_far) {
  if (std::isnan(so_far)) return op.last && std::isnan(x);
  if (std::isnan(x) || (op.last && x == so_far)) return true;
  return op.largest ? x > so_far : x < so_far;
}

int64_t place_of(const ArgExtremumOp& op, const Values& operand, Shape index) {
  int64_t place = 0;
  double best = 0;
  for (int64_t at = 0; at < operand.shape[op.axis]; ++at) {
    index[op.axis] = at;
    const double x = element_at(operand, index);
    if (at > 0 && !is_better(op, x, best)) continue;
    best = x;
    place = at;
  }
  return place;
}

// Two computes: the extremum, then the first or last place of what equals it. A NaN equals nothing: where
// there is one, it is the extremum, and it is found by that.
Tensor lower_places(const ArgExtremumOp& op, DagBuilder& builder, const Tensor& operand) {
  const std::vector<Axis> axes = axes_of(operand);
  std::vector<Axis> kept;
  std::vector<Affine> source = indices(axes);
  std::vector<Affine> found;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (d == op.axis) continue;
    kept.push_back(axes[d]);
    found.emplace_back(axes[d].var);
  }
  const Axis along = reduce("r" + axes[op.axis].var.name(), axes[op.axis].extent);
  source[op.axis] = Affine(along.var);
  const Expr x = load(operand, source);
  const Tensor best = builder.compute(builder.fresh_name("best"), kept,
                                      op.largest ? max_over({along}, x) : min_over({along}, x));
  Expr is_best = x == load(best, found);
  // NOLINTNEXTLINE(misc-redundant-expression): a NaN alone is not equal to itself
  if (is_float(operand->dtype)) is_best = is_best || x != x;
  const Expr place = select(is_best, Expr(along.var), Expr(op.last ? -1 : along.extent));
  std::vector<Axis> result = kept;
  if (op.keeps) {
    const auto at = result.begin() + static_cast<std::ptrdiff_t>(op.axis);
    result.insert(at, spatial(axes[op.axis].var.name(), 1));
  }
  return builder.compute(builder.fresh_name("place"), result,
                         op.last ? max_over({along}, place) : min_over({along}, place));
}

Result<ArgExtremumOp> import_arg(OnnxNode& node, bool largest) {
  ArgExtremumOp op;
  op.largest = largest;
  LATHE_TRY(op.axis, axis_of(node.integer("axis", 0), node.shape(0).size()));
  op.keeps = node.integer("keepdims", 1) != 0;
  op.last = node.integer("select_last_index", 0) != 0;
  return op;
}

}  // namespace

const char* ArgExtremumOp::name() const { return largest ? "ArgMax" : "ArgMin"; }

std::string attributes_of(const ArgExtremumOp& op) {
  return fmt::format("axis {}{}{}", op.axis, op.keeps ? ", kept" : "", op.last ? ", last" : "");
}
std::string attributes_of(const HardmaxOp& op) { return fmt::format("axis {}", op.axis); }

Result<TensorType> infer(const ArgExtremumOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(check_operand(op.axis, inputs[0]));
  return TensorType{DType::i64, reduced_shape(inputs[0].shape, op.axis, op.keeps)};
}

Result<TensorType> infer(const HardmaxOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  LATHE_TRY_STATUS(check_operand(op.axis, inputs[0]));
  return inputs[0];
}

Values evaluate(const ArgExtremumOp& op, std::span<const Values> inputs) {
  Values result{reduced_shape(inputs[0].shape, op.axis, true), {}};
  Shape index(result.shape.size(), 0);
  do {
    result.data.push_back(static_cast<double>(place_of(op, inputs[0], index)));
  } while (next_index(index, result.shape));
  result.shape = reduced_shape(inputs[0].shape, op.axis, op.keeps);
  return result;
}

Values evaluate(const HardmaxOp& op, std::span<const Values> inputs) {
  const ArgExtremumOp first{true, op.axis};
  Values result{inputs[0].shape, {}};
  Shape index(result.shape.size(), 0);
  do {
    result.data.push_back(place_of(first, inputs[0], index) == index[op.axis] ? 1 : 0);
  } while (next_index(index, result.shape));
  return result;
}

Tensor lower(const ArgExtremumOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  return lower_places(op, builder, operands[0]);
}

Tensor lower(const HardmaxOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor places = lower_places({true, op.axis}, builder, operands[0]);
  const std::vector<Axis> axes = axes_of(operands[0]);
  std::vector<Affine> index = indices(axes);
  index[op.axis] = Affine(0);
  const Expr is_place = load(places, index) == Expr(axes[op.axis].var);
  return builder.compute("hardmax", axes, cast({operands[0]->dtype}, is_place));
}

Result<ArgExtremumOp> import_arg_max(OnnxNode& node) { return import_arg(node, true); }
Result<ArgExtremumOp> import_arg_min(OnnxNode& node) { return import_arg(node, false); }

Result<HardmaxOp> import_hardmax(OnnxNode& node) {
  HardmaxOp op;
  LATHE_TRY(op.axis, axis_of(node.integer("axis", -1), node.shape(0).size()));
  return op;
}

}  // namespace lathe
