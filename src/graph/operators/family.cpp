#include "graph/operators/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/axes.h"

namespace lathe {

Result<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t back = 1; back <= result.size(); ++back) {
    const int64_t from_a = back <= a.size() ? a[a.size() - back] : 1;
    const int64_t from_b = back <= b.size() ? b[b.size() - back] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the shapes {} and {} do not broadcast", to_string(a), to_string(b)));
    }
    result[result.size() - back] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

int64_t broadcast_offset(const Shape& from, const Shape& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t at = from[d] == 1 ? 0 : index[index.size() - from.size() + d];
    offset = offset * from[d] + at;
  }
  return offset;
}

bool next_index(Shape& index, const Shape& shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

Result<size_t> axis_of(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis >= -count && axis < count) return static_cast<size_t>(axis < 0 ? axis + count : axis);
  return fail(ErrorKind::invalid_argument, fmt::format("there is no axis {} among {} axes", axis, rank));
}

Result<std::vector<size_t>> axes_of_list(const Shape& axes, size_t rank) {
  std::vector<size_t> result;
  for (const int64_t axis : axes) {
    LATHE_TRY(const size_t place, axis_of(axis, rank));
    if (std::ranges::find(result, place) != result.end())
      return fail(ErrorKind::invalid_argument, fmt::format("axis {} is named twice", place));
    result.push_back(place);
  }
  std::ranges::sort(result);
  return result;
}

std::vector<size_t> axes_from(size_t first, size_t rank) {
  std::vector<size_t> axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

double wrapped(DType dtype, double value) {
  if (is_float(dtype) || dtype == DType::i64 || !std::isfinite(value)) return value;
  return number_kept(dtype, cut_to(dtype, value));
}

std::vector<Axis> axes_with(const Shape& shape) { return axes_of(Tensor("moved", shape)); }

bool is_number(DType dtype) { return is_computed_type(dtype) && dtype != DType::boolean; }

Status require_type(const TensorType& input, size_t operand, bool is_right, const char* supports) {
  if (is_right) return {};
  return fail(ErrorKind::unsupported, fmt::format("input {} is of type {}, and Lathe supports {} here",
                                                  operand, to_string(input.dtype), supports));
}

Status require_f32(std::span<const TensorType> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    LATHE_TRY_STATUS(require_type(inputs[i], i, inputs[i].dtype == DType::f32, "f32"));
  return {};
}

Status require_reals(std::span<const TensorType> inputs) {
  const bool is_wide = inputs[0].dtype == DType::f64;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_right = inputs[i].dtype == (is_wide ? DType::f64 : DType::f32);
    LATHE_TRY_STATUS(require_type(inputs[i], i, is_right, i == 0 ? "f32 and f64" : is_wide ? "f64" : "f32"));
  }
  return {};
}

Result<DType> product_type(std::span<const TensorType> inputs) {
  const auto is_narrow = [](DType dtype) { return dtype == DType::i8 || dtype == DType::u8; };
  const DType first = inputs[0].dtype, second = inputs[1].dtype;
  if (is_narrow(first) && is_narrow(second)) return DType::i32;
  const bool is_product = first == DType::f32 || first == DType::f64 || first == DType::i32;
  LATHE_TRY_STATUS(require_type(inputs[0], 0, is_product || is_narrow(first), "f32, f64, i32, i8 and u8"));
  LATHE_TRY_STATUS(
      require_type(inputs[1], 1, second == first, is_narrow(first) ? "i8 and u8" : info_of(first).name));
  return first;
}

Status require_one_type(std::span<const TensorType> inputs) {
  for (const TensorType& input : inputs) {
    if (input.dtype == inputs[0].dtype) continue;
    return fail(ErrorKind::invalid_argument, fmt::format("its operands are of types {} and {}",
                                                         to_string(inputs[0].dtype), to_string(input.dtype)));
  }
  return {};
}

}  // namespace lathe
