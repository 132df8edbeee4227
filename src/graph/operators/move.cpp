#include "graph/operators/move.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

Shape transposed_shape(const TransposeOp& op, const Shape& shape) {
  Shape result;
  for (const size_t axis : op.order) result.push_back(shape[axis]);
  return result;
}

// ONNX's rules for the bounds of a slice of one axis.
void add_slice(SliceOp& op, size_t axis, int64_t extent, int64_t start, int64_t end, int64_t step) {
  if (extent == 0) {
    op.extents[axis] = 0;
    return;
  }
  const int64_t first = step > 0 ? 0 : -1;  // where an end may lie; starts begin at 0
  const int64_t last = step > 0 ? extent : extent - 1;
  start = std::clamp<int64_t>(start < 0 ? start + extent : start, 0, last);
  end = std::clamp<int64_t>(end < 0 ? std::max<int64_t>(end, -extent - 1) + extent : end, first, last);
  op.starts[axis] = start;
  op.steps[axis] = step;
  op.extents[axis] = std::max<int64_t>(0, (end - start + step + (step > 0 ? -1 : 1)) / step);
}

}  // namespace

std::string attributes_of(const TransposeOp& op) {
  return fmt::format("order [{}]", fmt::join(op.order, ","));
}
std::string attributes_of(const SliceOp& op) {
  return fmt::format("starts {}, steps {}, extents {}", to_string(op.starts), to_string(op.steps),
                     to_string(op.extents));
}
std::string attributes_of(const ConcatOp& op) { return fmt::format("axis {}", op.axis); }
std::string attributes_of(const ExpandOp& op) { return to_string(op.shape); }
Result<TensorType> infer(const TransposeOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  std::vector<size_t> sorted = op.order;
  std::ranges::sort(sorted);
  std::vector<size_t> all(shape.size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (sorted != all) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the order {} is none of the {} axes", fmt::join(op.order, ","), shape.size()));
  }
  return TensorType{inputs[0].dtype, transposed_shape(op, shape)};
}

Result<TensorType> infer(const SliceOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  const size_t rank = shape.size();
  bool inside = op.starts.size() == rank && op.steps.size() == rank && op.extents.size() == rank;
  for (size_t d = 0; inside && d < rank; ++d) {
    const int64_t last = op.starts[d] + (op.extents[d] - 1) * op.steps[d];
    inside =
        op.extents[d] >= 1 && op.starts[d] >= 0 && op.starts[d] < shape[d] && last >= 0 && last < shape[d];
  }
  if (inside) return TensorType{inputs[0].dtype, op.extents};
  return fail(ErrorKind::unsupported,
              fmt::format("the slice ({}) of {} is empty or leaves it", attributes_of(op), to_string(shape)));
}

Result<TensorType> infer(const ConcatOp& op, std::span<const TensorType> inputs) {
  TensorType type = inputs[0];
  if (op.axis >= type.shape.size())
    return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(type), op.axis));
  for (size_t i = 1; i < inputs.size(); ++i) {
    TensorType other = inputs[i];
    const int64_t extent = op.axis < other.shape.size() ? other.shape[op.axis] : 0;
    if (op.axis < other.shape.size()) other.shape[op.axis] = inputs[0].shape[op.axis];
    if (other != inputs[0]) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} and {} do not join along axis {}", to_string(inputs[0]),
                              to_string(inputs[i]), op.axis));
    }
    type.shape[op.axis] += extent;
  }
  return type;
}

Result<TensorType> infer(const ExpandOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY(Shape shape, broadcast_shapes(inputs[0].shape, op.shape));
  return TensorType{inputs[0].dtype, std::move(shape)};
}

Values evaluate(const TransposeOp& op, std::span<const Values> inputs) {
  return moved(inputs[0], transposed_shape(op, inputs[0].shape), [&](const Shape& index) {
    Shape source(index.size());
    for (size_t d = 0; d < index.size(); ++d) source[op.order[d]] = index[d];
    return source;
  });
}

Values evaluate(const SliceOp& op, std::span<const Values> inputs) {
  return moved(inputs[0], op.extents, [&](const Shape& index) {
    Shape source(index.size());
    for (size_t d = 0; d < index.size(); ++d) source[d] = op.starts[d] + index[d] * op.steps[d];
    return source;
  });
}

Values evaluate(const ConcatOp& op, std::span<const Values> inputs) {
  Values result{inputs[0].shape, {}};
  result.shape[op.axis] = 0;
  for (const Values& input : inputs) result.shape[op.axis] += input.shape[op.axis];
  Shape index(result.shape.size(), 0);
  do {
    Shape at = index;
    size_t which = 0;
    while (at[op.axis] >= inputs[which].shape[op.axis]) at[op.axis] -= inputs[which++].shape[op.axis];
    result.data.push_back(inputs[which].data[static_cast<size_t>(broadcast_offset(inputs[which].shape, at))]);
  } while (next_index(index, result.shape));
  return result;
}

Values evaluate(const ExpandOp& op, std::span<const Values> inputs) {
  Values result{*broadcast_shapes(inputs[0].shape, op.shape), {}};
  Shape index(result.shape.size(), 0);
  do {
    result.data.push_back(inputs[0].data[static_cast<size_t>(broadcast_offset(inputs[0].shape, index))]);
  } while (next_index(index, result.shape));
  return result;
}

Tensor lower(const TransposeOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const std::vector<Axis> axes = axes_with(transposed_shape(op, operands[0]->shape));
  std::vector<Affine> index(axes.size(), Affine(0));
  for (size_t d = 0; d < axes.size(); ++d) index[op.order[d]] = Affine(axes[d].var);
  return builder.compute("transposed", axes, load(operands[0], index));
}

Tensor lower(const SliceOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const std::vector<Axis> axes = axes_with(op.extents);
  std::vector<Affine> index;
  for (size_t d = 0; d < axes.size(); ++d)
    index.push_back(Affine(axes[d].var) * op.steps[d] + Affine(op.starts[d]));
  return builder.compute("slice", axes, load(operands[0], index));
}

namespace {

// The element of tensors that lie one behind the other along an axis, the first from `start` on. They are
// halved, so that many are told apart by few comparisons.
Expr element_of(std::span<const Tensor> operands, const std::vector<Axis>& axes, size_t axis, int64_t start) {
  if (operands.size() == 1) {
    std::vector<Affine> index = indices(axes);
    index[axis] = Affine(axes[axis].var) - Affine(start);
    return load(operands[0], index);
  }
  const std::span<const Tensor> left = operands.first(operands.size() / 2);
  int64_t middle = start;
  for (const Tensor& operand : left) middle += operand->shape[axis];
  return select(Expr(axes[axis].var) < Expr(middle), element_of(left, axes, axis, start),
                element_of(operands.subspan(left.size()), axes, axis, middle));
}

}  // namespace

Tensor lower(const ConcatOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  Shape shape = operands[0]->shape;
  for (size_t i = 1; i < operands.size(); ++i) shape[op.axis] += operands[i]->shape[op.axis];
  const std::vector<Axis> axes = axes_with(shape);
  return builder.compute("joined", axes, element_of(operands, axes, op.axis, 0));
}

Tensor lower(const ExpandOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const std::vector<Axis> axes = axes_with(*broadcast_shapes(operands[0]->shape, op.shape));
  return builder.compute("expanded", axes, PointOperands(axes, {operands[0]}).at(0));
}

Result<TransposeOp> import_transpose(OnnxNode& node) {
  const size_t rank = node.shape(0).size();
  Shape reversed(rank);
  for (size_t d = 0; d < rank; ++d) reversed[d] = static_cast<int64_t>(rank - 1 - d);
  TransposeOp op;
  for (const int64_t axis : node.integers("perm", reversed)) {
    LATHE_TRY(const size_t place, axis_of(axis, rank));
    op.order.push_back(place);
  }
  return op;
}

Result<SliceOp> import_slice(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  LATHE_TRY(const Shape starts, node.bounds_of("starts", 1));
  LATHE_TRY(const Shape ends, node.bounds_of("ends", 2));
  Shape all(starts.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  LATHE_TRY(const Shape axes, node.integers_of("axes", 3, all));
  LATHE_TRY(Shape steps, node.bounds_of("steps", 4));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (starts.empty() || ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return fail(ErrorKind::invalid_argument, "its starts, ends, axes and steps are not of one length");
  LATHE_TRY_STATUS(axes_of_list(axes, shape.size()));
  SliceOp op{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
  for (size_t i = 0; i < axes.size(); ++i) {
    LATHE_TRY(const size_t axis, axis_of(axes[i], shape.size()));
    if (steps[i] == 0)
      return fail(ErrorKind::invalid_argument, fmt::format("the step of axis {} is 0", axis));
    const int64_t extent = shape[axis];  // a step as long passes every place but the first
    add_slice(op, axis, extent, starts[i], ends[i], extent == 0 ? 1 : std::clamp(steps[i], -extent, extent));
  }
  return op;
}

Result<ConcatOp> import_concat(OnnxNode& node) {
  if (!node.has("axis")) return fail(ErrorKind::invalid_argument, "it lacks the attribute 'axis'");
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), node.shape(0).size()));
  return ConcatOp{axis};
}

Result<ExpandOp> import_expand(OnnxNode& node) {
  LATHE_TRY(Shape shape, node.constant_shape(1));
  return ExpandOp{std::move(shape)};
}

Result<std::vector<SliceOp>> import_split(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), shape.size()));
  const int64_t extent = shape[axis];
  const auto parts = static_cast<int64_t>(node.output_count());
  const int64_t counted = node.integer("num_outputs", parts);
  const int64_t size = parts == 0 ? 0 : (extent + parts - 1) / parts;
  Shape equal(static_cast<size_t>(parts), size);
  if (parts > 0 && node.has("num_outputs")) equal.back() = extent - (parts - 1) * size;
  LATHE_TRY(const Shape sizes, node.integers_of("split", 1, equal));
  int64_t rest = extent;
  bool fits = counted == parts && static_cast<int64_t>(sizes.size()) == parts;
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    fits = sizes[i] >= 0 && sizes[i] <= rest;
    rest -= sizes[i];
  }
  if (!fits || rest != 0) {
    return fail(ErrorKind::unsupported,
                fmt::format("parts of {} do not give its {} outputs of the {} places of axis {}",
                            to_string(sizes), parts, extent, axis));
  }
  std::vector<SliceOp> slices;
  int64_t start = 0;
  for (const int64_t places : sizes) {
    SliceOp slice{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
    slice.starts[axis] = start;
    slice.extents[axis] = places;
    slices.push_back(std::move(slice));
    start += places;
  }
  return slices;
}

}  // namespace lathe
