#include "network/free_parts.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace lathe {
namespace {

int64_t elements_behind(const Shape& shape, size_t axis) {
  return elements_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end()));
}

// The part in the result of what stands so many elements apart in both; of several axes the one that is the
// dimension alone, else none of features, which are the last axis, and of these `axis` or the first; or the
// last of all, where a single place may stand on any.
std::optional<FreePart> place_in(const Shape& result, int64_t apart, int64_t size, size_t axis,
                                 UnitPlaces units) {
  std::optional<FreePart> best;
  const auto rank = [&](const FreePart& part) {
    const bool is_whole = part.is_whole_axis();
    if (units == UnitPlaces::last) return std::tuple(!is_whole, false, result.size() - part.axis);
    const bool is_in_features = !is_whole && part.axis + 1 == result.size();
    return std::tuple(!is_whole, is_in_features, size_t{part.axis == axis ? 0U : 1U});
  };
  for (size_t d = 0; d < result.size(); ++d) {
    const int64_t step = elements_behind(result, d);
    if (apart % step != 0) continue;
    const int64_t inner = apart / step;
    if (result[d] % (inner * size) != 0) continue;
    const FreePart part{d, result[d] / (inner * size), inner};
    if (!best || rank(part) < rank(*best)) best = part;
  }
  return best;
}

// Visits the constant's elements: their number, and for each part at which place of the dimension it stands.
template <class Visit>
void for_each_place(const Shape& shape, const FreeParts& parts, int64_t size, Visit visit) {
  std::vector<int64_t> places(parts.size());
  const int64_t count = elements_of(shape);
  for (int64_t i = 0; i < count; ++i) {
    for (size_t p = 0; p < parts.size(); ++p) {
      const int64_t index = i / elements_behind(shape, parts[p].axis) % shape[parts[p].axis];
      places[p] = index / parts[p].inner % size;
    }
    visit(static_cast<size_t>(i), places);
  }
}

}  // namespace

const FreePart* part_of(const FreeParts& parts, size_t axis) {
  const auto found = std::ranges::find(parts, axis, &FreePart::axis);
  return found == parts.end() ? nullptr : &*found;
}

Shape shape_at(Shape shape, const FreeParts& parts, int64_t size) {
  for (const FreePart& part : parts) shape[part.axis] = part.extent_at(size);
  return shape;
}

std::optional<FreeParts> reshaped(const FreeParts& parts, const Shape& shape, const Shape& result,
                                  int64_t size, UnitPlaces units) {
  FreeParts found;
  for (const FreePart& part : parts) {
    const auto place =
        place_in(result, part.inner * elements_behind(shape, part.axis), size, part.axis, units);
    if (!place || part_of(found, place->axis) != nullptr) return std::nullopt;
    found.push_back(*place);
  }
  std::ranges::sort(found, {}, &FreePart::axis);
  return found;
}

GraphOp with_shapes(GraphOp op, const Shape& operand_before, const Shape& result_before,
                    const Shape& result) {
  if (auto* reshape = std::get_if<ReshapeOp>(&op)) reshape->shape = result;
  if (auto* resize = std::get_if<ResizeOp>(&op)) resize->shape = result;
  if (auto* slice = std::get_if<SliceOp>(&op)) slice->extents = result;
  if (auto* expand = std::get_if<ExpandOp>(&op)) {
    // Its shape may have fewer axes than what it gives.
    const size_t missing = result.size() - expand->shape.size();
    for (size_t d = 0; d < expand->shape.size(); ++d) {
      if (expand->shape[d] != 1 || result_before[d + missing] == 1) expand->shape[d] = result[d + missing];
    }
  }
  if (auto* gather = std::get_if<GatherOp>(&op)) {
    for (size_t d = 0; d < gather->places_shape.size(); ++d)
      gather->places_shape[d] = result[gather->axis + d];
    // As it is read where there is one place, which has no next.
    if (elements_of(gather->places_shape) == 1) gather->step = 0;
  }
  if (auto* tile = std::get_if<TileOp>(&op)) {
    for (size_t d = 0; d < tile->repeats.size(); ++d) {
      if (operand_before[d] == 1 && result[d] != result_before[d] && tile->repeats[d] != 1)
        tile->repeats[d] = result[d];
    }
  }
  return op;
}

std::shared_ptr<const Bytes> first_places(const GraphTensor& constant, const FreeParts& parts, int64_t before,
                                          int64_t size) {
  if (size == before) return constant.data;
  const auto bytes = static_cast<size_t>(bytes_of(constant.type.dtype));
  Bytes kept;
  for_each_place(constant.type.shape, parts, before, [&](size_t i, const std::vector<int64_t>& places) {
    if (std::ranges::any_of(places, [&](int64_t place) { return place >= size; })) return;
    const std::byte* const element = constant.data->data() + i * bytes;
    kept.insert(kept.end(), element, element + bytes);
  });
  return std::make_shared<const Bytes>(std::move(kept));
}

bool goes_on_along(const GraphTensor& constant, size_t axis) {
  const Shape& shape = constant.type.shape;
  if (is_float(constant.type.dtype) || constant.type.dtype == DType::boolean || shape[axis] < 2) return false;
  const std::vector<double> values = values_of(constant);
  const auto step = static_cast<size_t>(elements_behind(shape, axis));
  const double first = values[step] - values[0];
  if (first != 0 && first != 1) return false;
  for (size_t i = step; i < values.size(); ++i) {
    const bool is_first_place = i / step % static_cast<size_t>(shape[axis]) == 0;
    if (!is_first_place && values[i] - values[i - step] != first) return false;
  }
  return true;
}

std::shared_ptr<const Bytes> more_places(const GraphTensor& constant, size_t axis, int64_t size) {
  const std::vector<double> values = values_of(constant);
  const auto step = static_cast<size_t>(elements_behind(constant.type.shape, axis));
  const auto before = static_cast<size_t>(constant.type.shape[axis]);
  const double each = values[step] - values[0];
  std::vector<double> more;
  for (size_t row = 0; row < values.size(); row += step * before) {
    for (size_t place = 0; place < static_cast<size_t>(size); ++place)
      for (size_t i = 0; i < step; ++i) more.push_back(values[row + i] + each * static_cast<double>(place));
  }
  return to_bytes(constant.type.dtype, more);
}

bool is_same_along(const GraphTensor& constant, const FreeParts& parts, int64_t size) {
  const auto bytes = static_cast<size_t>(bytes_of(constant.type.dtype));
  bool same = true;
  for_each_place(constant.type.shape, parts, size, [&](size_t i, const std::vector<int64_t>& places) {
    size_t first = i;
    for (size_t p = 0; p < parts.size(); ++p) {
      const int64_t step = elements_behind(constant.type.shape, parts[p].axis) * parts[p].inner;
      first -= static_cast<size_t>(places[p] * step);
    }
    same = same &&
           std::memcmp(constant.data->data() + i * bytes, constant.data->data() + first * bytes, bytes) == 0;
  });
  return same;
}

}  // namespace lathe
