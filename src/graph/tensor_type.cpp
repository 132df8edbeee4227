#include "graph/tensor_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lathe {

Status check_shape(const Shape& shape, const std::string& label) {
  constexpr int64_t kMostElements = int64_t{1} << 40;
  int64_t room = kMostElements;
  for (int64_t extent : shape) {
    if (extent < 1) {
      return fail(ErrorKind::unsupported, fmt::format("{} has shape {}, and every extent must be at least 1",
                                                      label, to_string(shape)));
    }
    room /= extent;
  }
  if (room > 0) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("{} has shape {}, which is too large", label, to_string(shape)));
}

int64_t elements_of(const Shape& shape) {
  // The other extents of a tensor without elements may be any: their product need not fit.
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

bool may_be_folded(int64_t elements, int64_t operand_elements) {
  constexpr int64_t kAlways = int64_t{1} << 24;
  return elements <= std::max(kAlways, operand_elements);
}

bool is_computed_type(DType dtype) { return !is_storage_only(dtype); }

int64_t bytes_of(const TensorType& type) { return elements_of(type.shape) * bytes_of(type.dtype); }

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string to_string(const TensorType& type) { return to_string(type.dtype) + to_string(type.shape); }

}  // namespace lathe
