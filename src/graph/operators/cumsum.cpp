#include "graph/operators/cumsum.h"

#include <fmt/format.h>

#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

// Places that a sum under a condition runs over: longer axes are cut into blocks of as many.
constexpr int64_t kBlock = 8;

// Whether place `other` counts at `place`.
Expr counts(const CumSumOp& op, const Affine& other, const Affine& place) {
  const Expr a = op.reverse ? Expr(place) : Expr(other);
  const Expr b = op.reverse ? Expr(other) : Expr(place);
  return op.exclusive ? a < b : a <= b;
}

// element(place) along the axis, 0 from `extent` on.
template <class Element>
Expr up_to(const Affine& place, int64_t extent, int64_t most, Element element) {
  const Expr x = element(place);
  return most < extent ? x : select(Expr(place) < Expr(extent), x, literal(x.type(), 0));
}

Tensor scan(const CumSumOp& op, DagBuilder& builder, const Tensor& x) {
  const int64_t extent = x->shape[op.axis];
  const std::vector<Axis> axes = axes_of(x);
  const auto element = [&](const Affine& place) {
    std::vector<Affine> index = indices(axes);
    index[op.axis] = place;
    return load(x, index);
  };
  const Affine at(axes[op.axis].var);
  const auto name = [&](const char* what) { return builder.fresh_name(what); };
  const auto sum_of = [&](const Axis& over, const Expr& condition, const Expr& term) {
    return sum({over}, select(condition, term, literal(term.type(), 0)));
  };
  if (extent <= 2 * kBlock) {
    const Axis other = reduce("r", extent);
    return builder.compute(name("running"), axes,
                           sum_of(other, counts(op, other.var, at), element(other.var)));
  }
  // The sums of whole blocks, what runs up to each block, and what runs inside one.
  const int64_t blocks = (extent + kBlock - 1) / kBlock;
  const Axis place = reduce("r", kBlock);
  std::vector<Axis> block_axes = axes;
  block_axes[op.axis] = spatial("b", blocks);
  const Affine block(block_axes[op.axis].var);
  const auto block_element = [&](const Affine& at_place) {
    std::vector<Affine> index = indices(block_axes);
    index[op.axis] = at_place;
    return load(x, index);
  };
  const int64_t most = blocks * kBlock - 1;
  const Tensor totals =
      builder.compute(name("totals"), block_axes,
                      sum({place}, up_to(block * kBlock + Affine(place.var), extent, most, block_element)));
  const Tensor before = scan({op.axis, true, op.reverse}, builder, totals);
  const Affine inside = floor_div(at, kBlock) * kBlock + Affine(place.var);
  const Tensor within = builder.compute(
      name("inside"), axes,
      sum_of(place, counts(op, Affine(place.var), modulo(at, kBlock)), up_to(inside, extent, most, element)));
  std::vector<Affine> index = indices(axes);
  index[op.axis] = floor_div(at, kBlock);
  return builder.compute(name("running"), axes, load(before, index) + load(within, indices(axes)));
}

}  // namespace

std::string attributes_of(const CumSumOp& op) {
  return fmt::format("axis {}{}{}", op.axis, op.exclusive ? ", exclusive" : "",
                     op.reverse ? ", reverse" : "");
}

Result<TensorType> infer(const CumSumOp& op, std::span<const TensorType> inputs) {
  const DType dtype = inputs[0].dtype;
  if (!is_integer(dtype) || bytes_of(dtype) < 4) LATHE_TRY_STATUS(require_reals(inputs));
  if (op.axis < inputs[0].shape.size()) return inputs[0];
  return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(inputs[0]), op.axis));
}

Values evaluate(const CumSumOp& op, std::span<const Values> inputs) {
  const Shape& shape = inputs[0].shape;
  const int64_t extent = shape[op.axis];
  const int64_t stride =
      elements_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(op.axis) + 1, shape.end()));
  Values result = inputs[0];
  for (int64_t i = 0; i < elements_of(shape); ++i) {
    if (i / stride % extent != 0) continue;
    double sum = 0;
    for (int64_t step = 0; step < extent; ++step) {
      const auto place = static_cast<size_t>(i + (op.reverse ? extent - 1 - step : step) * stride);
      const double next = wrapped(inputs[0].dtype, sum + inputs[0].data[place]);
      result.data[place] = op.exclusive ? sum : next;
      sum = next;
    }
  }
  return result;
}

Tensor lower(const CumSumOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  return scan(op, builder, operands[0]);
}

Result<CumSumOp> import_cumsum(OnnxNode& node) {
  LATHE_TRY(const Shape axis, node.constant_integers(1));
  if (axis.size() != 1)
    return fail(ErrorKind::invalid_argument, fmt::format("its axis has {} values, not one", axis.size()));
  CumSumOp op;
  LATHE_TRY(op.axis, axis_of(axis[0], node.shape(0).size()));
  op.exclusive = node.integer("exclusive", 0) != 0;
  op.reverse = node.integer("reverse", 0) != 0;
  return op;
}

}  // namespace lathe
