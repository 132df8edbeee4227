// How a tensor's elements are moved between row-major storage and a layout: the boxes of a blocked layout
// (one, or more where blocks are not full) as nested loops with one step a side. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "task/layout.h"

namespace lathe {

// A loop: how many elements, and how far apart they lie row-major (outside) and in the layout (inside).
struct CopyAxis {
  int64_t extent = 1;
  int64_t outside = 0;
  int64_t inside = 0;

  bool operator==(const CopyAxis&) const = default;
};

struct LayoutCopy {
  int64_t outside = 0;  // the place of its first element
  int64_t inside = 0;
  // At least two: first the one with the smallest step outside, then by steps inside from the smallest up; of
  // runs that are neighbours on both sides, the third is the one with the smallest step outside of the rest.
  std::vector<CopyAxis> axes;

  bool operator==(const LayoutCopy&) const = default;
};

// Copies that together move each element of a tensor of this shape once. The layout is one that verify takes.
std::vector<LayoutCopy> copy_plan(const Layout& layout, std::span<const int64_t> shape);

}  // namespace lathe
