#include "task/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace lathe {
namespace {

constexpr int64_t kMaxFactor = int64_t{1} << 31;
constexpr double kMaxElements = 281474976710656.0;  // 2^48: offsets and bytes stay within 64 bits

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::unexpected<Error> invalid(const Layout& layout, std::string message) {
  return fail(ErrorKind::invalid_argument, fmt::format("layout {}: {}", to_string(layout), message));
}

// The parts of one logical dimension, innermost first.
std::vector<LayoutDim> parts_of(const Layout& layout, int dim) {
  std::vector<LayoutDim> parts;
  std::ranges::copy_if(layout.dims, std::back_inserter(parts),
                       [&](const LayoutDim& part) { return part.dim == dim; });
  std::ranges::sort(parts, {}, &LayoutDim::divide);
  return parts;
}

Status verify_dimension(const Layout& layout, int dim) {
  const std::vector<LayoutDim> parts = parts_of(layout, dim);
  if (parts.empty()) return invalid(layout, fmt::format("dimension {} is missing", dim));
  int64_t expected = 1;
  for (const LayoutDim& part : parts) {
    if (part.divide != expected) {
      return invalid(layout, fmt::format("the parts of dimension {} do not chain: one divides by {}, not {}",
                                         dim, part.divide, expected));
    }
    const bool outermost = &part == &parts.back();
    if (outermost != (part.modulo == 0)) {
      return invalid(layout, fmt::format("of dimension {} exactly the outermost part has no modulo", dim));
    }
    expected = part.divide * part.modulo;
  }
  return {};
}

}  // namespace

Layout Layout::row_major(size_t rank) {
  Layout layout;
  for (size_t d = 0; d < rank; ++d) layout.dims.push_back({static_cast<int>(d), 1, 0, 0});
  return layout;
}

Layout Layout::permuted(std::span<const int> order) {
  Layout layout;
  for (const int d : order) layout.dims.push_back({d, 1, 0, 0});
  return layout;
}

Status verify(const Layout& layout, std::span<const int64_t> shape) {
  const int rank = static_cast<int>(shape.size());
  for (const LayoutDim& part : layout.dims) {
    if (part.dim < 0 || part.dim >= rank) {
      return invalid(layout, fmt::format("there is no dimension {}, the tensor has {}", part.dim, rank));
    }
    const bool in_range = part.divide >= 1 && part.divide <= kMaxFactor && part.modulo >= 0 &&
                          part.modulo <= kMaxFactor && part.extra >= 0 && part.extra <= kMaxFactor;
    if (!in_range) return invalid(layout, fmt::format("a factor of dimension {} is out of range", part.dim));
  }
  for (int d = 0; d < rank; ++d) LATHE_TRY_STATUS(verify_dimension(layout, d));
  double elements = 1;
  for (const int64_t size : physical_shape(layout, shape)) elements *= static_cast<double>(size);
  if (elements > kMaxElements) return invalid(layout, fmt::format("{:.3g} elements are too many", elements));
  return {};
}

std::vector<int64_t> physical_shape(const Layout& layout, std::span<const int64_t> shape) {
  std::vector<int64_t> sizes;
  for (const LayoutDim& part : layout.dims) {
    const int64_t size =
        part.modulo > 0 ? part.modulo : ceil_div(shape[static_cast<size_t>(part.dim)], part.divide);
    sizes.push_back(size + part.extra);
  }
  return sizes;
}

int64_t physical_elements(const Layout& layout, std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t size : physical_shape(layout, shape)) elements *= size;
  return elements;
}

bool is_row_major(const Layout& layout, std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  if (physical_elements(layout, shape) != elements) return false;
  const std::vector<int64_t> sizes = physical_shape(layout, shape);
  std::vector<LayoutDim> parts;
  for (size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k] > 1) parts.push_back(layout.dims[k]);
  return std::ranges::is_sorted(parts, [](const LayoutDim& a, const LayoutDim& b) {
    return a.dim != b.dim ? a.dim < b.dim : a.divide > b.divide;
  });
}

std::vector<int64_t> capacity(const Layout& layout, std::span<const int64_t> shape) {
  std::vector<int64_t> room(shape.begin(), shape.end());
  for (const LayoutDim& part : layout.dims) {
    const auto d = static_cast<size_t>(part.dim);
    if (part.modulo == 0) room[d] = ceil_div(shape[d], part.divide) * part.divide;
  }
  return room;
}

Affine flatten(const Layout& layout, std::span<const int64_t> shape, std::span<const Affine> index,
               const Ranges& ranges) {
  LATHE_CHECK(index.size() == shape.size());
  const std::vector<int64_t> sizes = physical_shape(layout, shape);
  Affine offset;
  int64_t stride = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    const LayoutDim& part = layout.dims[k];
    Affine coordinate = floor_div(index[static_cast<size_t>(part.dim)], part.divide, ranges);
    if (part.modulo > 0) coordinate = modulo(coordinate, part.modulo, ranges);
    offset += coordinate * stride;
    stride *= sizes[k];
  }
  return simplify(offset, ranges);
}

int64_t flatten(const Layout& layout, std::span<const int64_t> shape, std::span<const int64_t> index) {
  LATHE_CHECK(index.size() == shape.size());
  const std::vector<int64_t> sizes = physical_shape(layout, shape);
  int64_t offset = 0;
  int64_t stride = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    const LayoutDim& part = layout.dims[k];
    int64_t coordinate = index[static_cast<size_t>(part.dim)] / part.divide;
    if (part.modulo > 0) coordinate %= part.modulo;
    offset += coordinate * stride;
    stride *= sizes[k];
  }
  return offset;
}

std::string to_string(const Layout& layout) {
  std::string text;
  for (const LayoutDim& part : layout.dims) {
    text += fmt::format("[{}", part.dim);
    if (part.divide != 1) text += fmt::format("/{}", part.divide);
    if (part.modulo != 0) text += fmt::format("%{}", part.modulo);
    if (part.extra != 0) text += fmt::format("+{}", part.extra);
    text += "]";
  }
  return text.empty() ? "[]" : text;
}

Result<Layout> parse_layout(TextCursor& cursor) {
  Layout layout;
  LATHE_TRY_STATUS(cursor.expect("["));
  if (cursor.accept("]")) return layout;  // a scalar
  const auto factor = [&](int64_t least) -> Result<int64_t> {
    LATHE_TRY(const int64_t value, cursor.integer());
    if (value >= least && value <= kMaxFactor) return value;
    return cursor.error(fmt::format("a layout's factor is {} to {}, not {}", least, kMaxFactor, value));
  };
  do {
    LayoutDim part;
    LATHE_TRY(const int64_t dim, factor(0));
    part.dim = static_cast<int>(std::min<int64_t>(dim, 1 << 20));
    if (cursor.accept("/")) {
      LATHE_TRY(part.divide, factor(1));
    }
    if (cursor.accept("%")) {
      LATHE_TRY(part.modulo, factor(1));
    }
    if (cursor.accept("+")) {
      LATHE_TRY(part.extra, factor(0));
    }
    LATHE_TRY_STATUS(cursor.expect("]"));
    layout.dims.push_back(part);
  } while (cursor.accept("["));
  return layout;
}

}  // namespace lathe
