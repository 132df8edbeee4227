#include "graph/operators/gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

// The shape with another one in the place of an axis.
Shape gathered_shape(const Shape& shape, size_t axis, const Shape& places) {
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  Shape result(shape.begin(), at);
  result.insert(result.end(), places.begin(), places.end());
  result.insert(result.end(), at + 1, shape.end());
  return result;
}

Status check_axis(size_t axis, const Shape& shape) {
  if (axis < shape.size()) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(shape), axis));
}

Status require_indices(const TensorType& type) {
  return require_type(type, 1, type.dtype == DType::i64 || type.dtype == DType::i32, "i64 and i32");
}

// Inside an axis of that extent.
int64_t place_of(double index, int64_t extent) {
  const int64_t rest = static_cast<int64_t>(index) % extent;
  return rest < 0 ? rest + extent : rest;
}
Affine place_of(const Expr& index, int64_t extent) {
  return modulo(to_affine(cast({DType::i64}, index)), extent);
}

// A part of a row-major index, as an index of its own.
Shape part_of(const Shape& index, size_t first, size_t count) {
  const auto begin = index.begin() + static_cast<std::ptrdiff_t>(first);
  return Shape(begin, begin + static_cast<std::ptrdiff_t>(count));
}

// The result that takes the place `place(index among the places)` of the axis.
template <class Place>
Values gather(const Values& operand, size_t axis, const Shape& places, Place place) {
  Values result{gathered_shape(operand.shape, axis, places), {}};
  Shape index(result.shape.size(), 0);
  do {
    Shape source = part_of(index, 0, axis);
    source.push_back(place(part_of(index, axis, places.size())));
    const Shape behind = part_of(index, axis + places.size(), index.size() - axis - places.size());
    source.insert(source.end(), behind.begin(), behind.end());
    result.data.push_back(element_at(operand, source));
  } while (next_index(index, result.shape));
  return result;
}

template <class Place>
Tensor lower_gather(DagBuilder& builder, const Tensor& operand, size_t axis, const Shape& places,
                    Place place) {
  const std::vector<Axis> axes = axes_with(gathered_shape(operand->shape, axis, places));
  const std::vector<Affine> all = indices(axes);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto end = begin + static_cast<std::ptrdiff_t>(places.size());
  std::vector<Affine> index(all.begin(), begin);
  index.push_back(place(std::vector<Affine>(begin, end)));
  index.insert(index.end(), end, all.end());
  return builder.compute("gathered", axes, load(operand, index));
}

}  // namespace

std::string attributes_of(const GatherOp& op) {
  return fmt::format("axis {}, places from {} by {} of shape {}", op.axis, op.first, op.step,
                     to_string(op.places_shape));
}
std::string attributes_of(const GatherByOp& op) { return fmt::format("axis {}", op.axis); }
std::string attributes_of(const GatherElementsOp& op) { return fmt::format("axis {}", op.axis); }

Result<TensorType> infer(const GatherOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  LATHE_TRY_STATUS(check_axis(op.axis, shape));
  const int64_t last = op.first + op.step * (elements_of(op.places_shape) - 1);
  for (const int64_t place : {op.first, last}) {
    if (place >= 0 && place < shape[op.axis]) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("there is no place {} in axis {} of {}", place, op.axis, to_string(shape)));
  }
  return TensorType{inputs[0].dtype, gathered_shape(shape, op.axis, op.places_shape)};
}

Result<TensorType> infer(const GatherByOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(check_axis(op.axis, inputs[0].shape));
  LATHE_TRY_STATUS(require_indices(inputs[1]));
  return TensorType{inputs[0].dtype, gathered_shape(inputs[0].shape, op.axis, inputs[1].shape)};
}

Result<TensorType> infer(const GatherElementsOp& op, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  const Shape& places = inputs[1].shape;
  LATHE_TRY_STATUS(check_axis(op.axis, shape));
  LATHE_TRY_STATUS(require_indices(inputs[1]));
  bool fits = places.size() == shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d) fits = d == op.axis || places[d] <= shape[d];
  if (fits) return TensorType{inputs[0].dtype, places};
  return fail(ErrorKind::invalid_argument, fmt::format("its indices {} leave {} beside axis {}",
                                                       to_string(places), to_string(shape), op.axis));
}

Values evaluate(const GatherOp& op, std::span<const Values> inputs) {
  return gather(inputs[0], op.axis, op.places_shape,
                [&](const Shape& at) { return op.first + op.step * broadcast_offset(op.places_shape, at); });
}

Values evaluate(const GatherByOp& op, std::span<const Values> inputs) {
  const int64_t extent = inputs[0].shape[op.axis];
  return gather(inputs[0], op.axis, inputs[1].shape,
                [&](const Shape& at) { return place_of(element_at(inputs[1], at), extent); });
}

Values evaluate(const GatherElementsOp& op, std::span<const Values> inputs) {
  Values result{inputs[1].shape, {}};
  Shape index(result.shape.size(), 0);
  do {
    Shape source = index;
    source[op.axis] = place_of(element_at(inputs[1], index), inputs[0].shape[op.axis]);
    // Not `element_at`, by which an axis of one place would stand for all.
    int64_t offset = 0;
    for (size_t d = 0; d < source.size(); ++d) offset = offset * inputs[0].shape[d] + source[d];
    result.data.push_back(inputs[0].data[static_cast<size_t>(offset)]);
  } while (next_index(index, result.shape));
  return result;
}

Tensor lower(const GatherOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  return lower_gather(builder, operands[0], op.axis, op.places_shape, [&](const std::vector<Affine>& at) {
    Affine number(0);  // of the place in the list
    for (size_t d = 0; d < at.size(); ++d) number = number * op.places_shape[d] + at[d];
    return number * op.step + Affine(op.first);
  });
}

Tensor lower(const GatherByOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const int64_t extent = operands[0]->shape[op.axis];
  return lower_gather(builder, operands[0], op.axis, operands[1]->shape,
                      [&](const std::vector<Affine>& at) { return place_of(load(operands[1], at), extent); });
}

Tensor lower(const GatherElementsOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const std::vector<Axis> axes = axes_with(operands[1]->shape);
  std::vector<Affine> index = indices(axes);
  index[op.axis] = place_of(load(operands[1], index), operands[0]->shape[op.axis]);
  return builder.compute("gathered", axes, load(operands[0], index));
}

Status check_places(std::span<const double> places, size_t axis, const Shape& shape) {
  const auto extent = static_cast<double>(shape[axis]);
  const auto beyond = std::ranges::find_if(places, [&](double at) { return at < -extent || at >= extent; });
  if (beyond == places.end()) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("there is no place {:.0f} in axis {} of {}", *beyond, axis, to_string(shape)));
}

std::optional<GatherOp> evenly_spaced(size_t axis, std::span<const int64_t> places,
                                      const Shape& places_shape) {
  if (places.empty()) return std::nullopt;
  const int64_t step = places.size() > 1 ? places[1] - places[0] : 0;
  for (size_t i = 2; i < places.size(); ++i)
    if (places[i] - places[i - 1] != step) return std::nullopt;
  return GatherOp{axis, places[0], step, places_shape};
}

Result<std::variant<GatherOp, GatherByOp>> import_gather(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), shape.size()));
  if (!node.is_constant(1) || elements_of(node.shape(1)) == 0) return GatherByOp{axis};
  LATHE_TRY(Shape places, node.constant_integers(1));
  LATHE_TRY_STATUS(check_places(std::vector<double>(places.begin(), places.end()), axis, shape));
  for (int64_t& place : places) place += place < 0 ? shape[axis] : 0;
  if (std::optional<GatherOp> even = evenly_spaced(axis, places, node.shape(1))) return *std::move(even);
  return GatherByOp{axis};
}

Result<GatherElementsOp> import_gather_elements(OnnxNode& node) {
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), node.shape(0).size()));
  return GatherElementsOp{axis};
}

}  // namespace lathe
