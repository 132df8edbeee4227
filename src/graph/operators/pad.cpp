#include "graph/operators/pad.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "graph/onnx/node.h"
#include "ops/axes.h"
#include "ops/window.h"

namespace lathe {
namespace {

Shape padded_shape(const PadOp& op, const Shape& shape) {
  Shape result = shape;
  for (size_t d = 0; d < shape.size(); ++d) result[d] += op.before[d] + op.after[d];
  return result;
}

// The place of the operand that stands in place `at` of a padded axis; none: the constant.
std::optional<int64_t> padded_place(PadMode mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == PadMode::constant) return std::nullopt;
  if (mode == PadMode::edge) return at < 0 ? 0 : extent - 1;
  return at < 0 ? -at : 2 * (extent - 1) - at;
}

// One axis of a tensor with its pads filled from the tensor itself.
Tensor lower_filled_axis(const PadOp& op, size_t d, DagBuilder& builder, const Tensor& tensor) {
  Shape shape = tensor->shape;
  const int64_t extent = shape[d];
  shape[d] += op.before[d] + op.after[d];
  const std::vector<Axis> axes = axes_of(Tensor("filled", shape));
  const Affine place = Affine(axes[d].var) - Affine(op.before[d]);
  const bool edge = op.mode == PadMode::edge;
  const auto element = [&](const Affine& at) {
    std::vector<Affine> index = indices(axes);
    index[d] = at;
    return load(tensor, index);
  };
  Expr body = element(place);
  if (op.after[d] > 0) {
    const Affine behind = edge ? Affine(extent - 1) : Affine(2 * (extent - 1)) - place;
    body = select(Expr(axes[d].var) < Expr(op.before[d] + extent), body, element(behind));
  }
  if (op.before[d] > 0) {
    const Affine ahead = edge ? Affine(0) : place * -1;
    body = select(Expr(axes[d].var) < Expr(op.before[d]), element(ahead), body);
  }
  return builder.compute(builder.fresh_name("filled"), axes, body);
}

}  // namespace

std::string attributes_of(const PadOp& op) {
  constexpr const char* kModes[] = {"constant", "edge", "reflect"};
  return fmt::format("before {}, after {}, {} {}", to_string(op.before), to_string(op.after),
                     kModes[static_cast<size_t>(op.mode)], op.value);
}

Result<TensorType> infer(const PadOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  if (op.before.size() != shape.size() || op.after.size() != shape.size()) {
    return fail(ErrorKind::invalid_argument, fmt::format("the pads are for {} axes, and {} has {}",
                                                         op.before.size(), to_string(shape), shape.size()));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t least = std::min(op.before[d], op.after[d]);
    const int64_t most = std::max(op.before[d], op.after[d]);
    const bool fits = op.mode == PadMode::constant
                          ? least > -shape[d]
                          : least >= 0 && (op.mode == PadMode::edge || most < shape[d]);
    if (fits && most < int64_t{1} << 30) continue;
    return fail(ErrorKind::unsupported, fmt::format("the pads {} and {} of axis {} of {} are out of range",
                                                    op.before[d], op.after[d], d, to_string(shape)));
  }
  return TensorType{inputs[0].dtype, padded_shape(op, shape)};
}

Values evaluate(const PadOp& op, std::span<const Values> inputs) {
  const Values& operand = inputs[0];
  Values result{padded_shape(op, operand.shape), {}};
  Shape index(result.shape.size(), 0);
  do {
    Shape source;
    for (size_t d = 0; d < index.size(); ++d) {
      const auto place = padded_place(op.mode, index[d] - op.before[d], operand.shape[d]);
      if (place) source.push_back(*place);
    }
    const bool inside = source.size() == index.size();
    result.data.push_back(inside ? operand.data[static_cast<size_t>(broadcast_offset(operand.shape, source))]
                                 : op.value);
  } while (next_index(index, result.shape));
  return result;
}

Tensor lower(const PadOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  Tensor result = operands[0];
  if (op.mode == PadMode::constant) {
    Window window;
    window.padding = op.before;
    window.padding_after = op.after;
    result = pad(builder, result, 0, op.before.size(), window, op.value);
  } else {
    for (size_t d = 0; d < op.before.size(); ++d)
      if (op.before[d] > 0 || op.after[d] > 0) result = lower_filled_axis(op, d, builder, result);
  }
  if (result != operands[0]) return result;
  const std::vector<Axis> axes = axes_of(result);
  return builder.compute("copy", axes, load(result, indices(axes)));
}

Result<PadOp> read_pads(OnnxNode& node) {
  const size_t rank = node.shape(0).size();
  LATHE_TRY(const Shape pads, node.integers_of("pads", 1, {}));
  Shape all(rank);
  std::iota(all.begin(), all.end(), int64_t{0});
  Shape axes = all;
  if (node.has_input(3)) {
    LATHE_TRY(axes, node.constant_integers(3));
  }
  LATHE_TRY_STATUS(axes_of_list(axes, rank));
  if (pads.size() != 2 * axes.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("it has {} pads for {} axes", pads.size(), axes.size()));
  }
  PadOp op{Shape(rank, 0), Shape(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    LATHE_TRY(const size_t axis, axis_of(axes[i], rank));
    op.before[axis] = pads[i];
    op.after[axis] = pads[axes.size() + i];
  }
  return op;
}

Result<PadOp> import_center_crop_pad(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  Shape axes(shape.size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  axes = node.integers("axes", axes);
  LATHE_TRY_STATUS(axes_of_list(axes, shape.size()));
  LATHE_TRY(const Shape extents, node.constant_integers(1));
  if (extents.size() != axes.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("it has {} extents for {} axes", extents.size(), axes.size()));
  }
  PadOp op{Shape(shape.size(), 0), Shape(shape.size(), 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    LATHE_TRY(const size_t axis, axis_of(axes[i], shape.size()));
    const int64_t more = extents[i] - shape[axis];
    op.before[axis] = more / 2;  // rounded towards zero: of what is left over the end has the larger part
    op.after[axis] = more - op.before[axis];
  }
  return op;
}

}  // namespace lathe
