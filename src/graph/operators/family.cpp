#include "graph/operators/family.h"

#include <fmt/format.h>

#include <algorithm>

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

Status require_f32(std::span<const TensorType> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != DType::f32) {
      return fail(ErrorKind::unsupported, fmt::format("input {} is of type {}, and Lathe supports f32 here",
                                                      i, to_string(inputs[i].dtype)));
    }
  }
  return {};
}

}  // namespace lathe
