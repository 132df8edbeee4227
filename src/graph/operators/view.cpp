#include "graph/operators/view.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/node.h"

namespace lathe {

namespace {

// ONNX's rules for the shape operand: 0 copies the input's extent, one -1 takes what is left.
// Of a tensor without elements: an extent is 0, or becomes it where it is open.
Result<Shape> resolve_empty_shape(const Shape& data, const Shape& wanted, bool zero_copies) {
  Shape shape = wanted;
  for (size_t d = 0; zero_copies && d < std::min(shape.size(), data.size()); ++d)
    if (shape[d] == 0) shape[d] = data[d];
  const auto open = std::ranges::count(shape, -1), none = std::ranges::count(shape, 0);
  const bool is_shape = std::ranges::all_of(shape, [](int64_t extent) { return extent >= -1; });
  if (is_shape && open == 1 && none == 0)
    *std::ranges::find(shape, -1) = 0;
  else if (!is_shape || open > 0 || none == 0)
    return fail(ErrorKind::invalid_argument, fmt::format("the shape {} does not hold the 0 elements of {}",
                                                         to_string(wanted), to_string(data)));
  return shape;
}

Result<Shape> resolve_shape(const Shape& data, const Shape& wanted, bool zero_copies) {
  if (elements_of(data) == 0) return resolve_empty_shape(data, wanted, zero_copies);
  Shape shape = wanted;
  int64_t rest = elements_of(data);
  size_t open = shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && zero_copies && d < data.size()) shape[d] = data[d];
    if (shape[d] == -1 && open == shape.size()) {
      open = d;
    } else if (shape[d] < 1 || rest % shape[d] != 0) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the shape {} does not hold the {} elements of {}", to_string(wanted),
                              elements_of(data), to_string(data)));
    } else {
      rest /= shape[d];
    }
  }
  if (open < shape.size()) shape[open] = rest;
  return shape;
}

}  // namespace

std::string attributes_of(const IdentityOp&) { return {}; }
std::string attributes_of(const ReshapeOp& op) { return to_string(op.shape); }

Result<TensorType> infer(const IdentityOp&, std::span<const TensorType> inputs) { return inputs[0]; }

Result<TensorType> infer(const ReshapeOp& op, std::span<const TensorType> inputs) {
  if (elements_of(op.shape) != elements_of(inputs[0].shape)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the shape {} does not hold the {} elements of {}", to_string(op.shape),
                            elements_of(inputs[0].shape), to_string(inputs[0].shape)));
  }
  return TensorType{inputs[0].dtype, op.shape};
}

Values evaluate(const IdentityOp&, std::span<const Values> inputs) { return inputs[0]; }

Values evaluate(const ReshapeOp& op, std::span<const Values> inputs) { return {op.shape, inputs[0].data}; }

Result<IdentityOp> import_identity(OnnxNode&) { return IdentityOp{}; }

Result<IdentityOp> import_dropout(OnnxNode& node) {
  const double ratio = node.real("ratio", 0.5);
  node.integer("seed", 0);
  LATHE_TRY(const bool trains, node.constant_flag(2));
  if (!trains) return IdentityOp{};
  LATHE_TRY(const double dropped, node.constant_real(1, ratio));
  if (dropped == 0) return IdentityOp{};
  return fail(ErrorKind::unsupported, "it is in training mode, and Lathe supports inference");
}

Result<ReshapeOp> import_reshape(OnnxNode& node) {
  LATHE_TRY(const Shape wanted, node.constant_shape(1));
  LATHE_TRY(Shape shape, resolve_shape(node.shape(0), wanted, node.integer("allowzero", 0) == 0));
  return ReshapeOp{std::move(shape)};
}

Result<ReshapeOp> import_flatten(OnnxNode& node) {
  const Shape& data = node.shape(0);
  const auto rank = static_cast<int64_t>(data.size());
  const int64_t axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'axis' is {}, and input 0 has {} axes", axis, rank));
  }
  const auto split = data.begin() + static_cast<std::ptrdiff_t>(axis < 0 ? axis + rank : axis);
  return ReshapeOp{{elements_of(Shape(data.begin(), split)), elements_of(Shape(split, data.end()))}};
}

Result<ReshapeOp> import_squeeze(OnnxNode& node) {
  const Shape& data = node.shape(0);
  LATHE_TRY(const Shape listed, node.integers_of("axes", 1, {}));
  LATHE_TRY(const std::vector<size_t> axes, axes_of_list(listed, data.size()));
  ReshapeOp op;
  for (size_t d = 0; d < data.size(); ++d) {
    const bool named = std::ranges::find(axes, d) != axes.end();
    if (named && data[d] != 1) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("axis {} of {} has more than one place", d, to_string(data)));
    }
    if (!named && (data[d] != 1 || !axes.empty())) op.shape.push_back(data[d]);
  }
  return op;
}

Result<ReshapeOp> import_unsqueeze(OnnxNode& node) {
  const Shape& data = node.shape(0);
  LATHE_TRY(const Shape listed, node.integers_of("axes", 1, {}));
  LATHE_TRY(const std::vector<size_t> axes, axes_of_list(listed, data.size() + listed.size()));
  ReshapeOp op{data};
  for (const size_t axis : axes) op.shape.insert(op.shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return op;
}

}  // namespace lathe
