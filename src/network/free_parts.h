// Where the places of a free dimension stand in a tensor, and how its size gets into shapes and attributes of
// operators. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace lathe {

// The axis' places are `outer` x size x `inner` ones: a reshape may have joined the dimension with others.
struct FreePart {
  size_t axis = 0;
  int64_t outer = 1;
  int64_t inner = 1;

  bool operator==(const FreePart&) const = default;
  int64_t extent_at(int64_t size) const { return outer * size * inner; }
  // Whether the axis is the dimension and nothing else.
  bool is_whole_axis() const { return outer == 1 && inner == 1; }
};
// Ascending by axis, at most one an axis.
using FreeParts = std::vector<FreePart>;

// Null where the axis has no such places.
const FreePart* part_of(const FreeParts& parts, size_t axis);
Shape shape_at(Shape shape, const FreeParts& parts, int64_t size);

// Where a single place goes that may stand on several axes of a reshape's result: the same axis or else the
// first, but not among the features on the last one where it can be avoided; or the last.
enum class UnitPlaces : uint8_t { first, last };

// What a reshape makes of the parts of an operand of that shape, in which the dimension has `size`; none
// where places of one index of the dimension do not stay side by side.
std::optional<FreeParts> reshaped(const FreeParts& parts, const Shape& shape, const Shape& result,
                                  int64_t size, UnitPlaces units = UnitPlaces::first);

// A node's operator where its operand and result have these shapes in place of the ones before: what spells
// a shape spells the new one.
GraphOp with_shapes(GraphOp op, const Shape& operand_before, const Shape& result_before, const Shape& result);

// The constant's elements where the dimension has `size` in place of `before`, which is more: the first ones
// along each part.
std::shared_ptr<const Bytes> first_places(const GraphTensor& constant, const FreeParts& parts, int64_t before,
                                          int64_t size);
// Whether the integers of the constant number the places along that axis, or are the same at each: what they
// are at further places follows.
bool goes_on_along(const GraphTensor& constant, size_t axis);
// Such a constant with so many places there.
std::shared_ptr<const Bytes> more_places(const GraphTensor& constant, size_t axis, int64_t size);
// Whether the constant's elements are the same at each place of the dimension.
bool is_same_along(const GraphTensor& constant, const FreeParts& parts, int64_t size);

}  // namespace lathe
