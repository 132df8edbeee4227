#include "artifact/copy_plan.h"

#include <algorithm>

namespace lathe {
namespace {

// A part of one logical dimension: of its index divided by `divide`, up to the next part.
struct Part {
  int64_t divide = 1;
  int64_t outside = 0;
  int64_t inside = 0;
};

// The parts of each dimension, innermost first.
std::vector<std::vector<Part>> parts_of(const Layout& layout, std::span<const int64_t> shape) {
  std::vector<int64_t> steps(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  const std::vector<int64_t> sizes = physical_shape(layout, shape);
  std::vector<std::vector<Part>> parts(shape.size());
  int64_t inside = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    const LayoutDim& part = layout.dims[k];
    const auto dim = static_cast<size_t>(part.dim);
    // What is always 0 says nothing of the place.
    if (part.modulo != 1) parts[dim].push_back({part.divide, steps[dim] * part.divide, inside});
    inside *= sizes[k];
  }
  for (std::vector<Part>& list : parts) std::ranges::sort(list, {}, &Part::divide);
  return parts;
}

// One dimension's indices from 0 to `extent` as boxes: whole blocks first, then what is left of the last one.
std::vector<LayoutCopy> boxes_of(std::span<const Part> parts, int64_t extent) {
  std::vector<LayoutCopy> boxes;
  LayoutCopy begin;
  for (size_t count = parts.size(); count > 0 && extent > 0; --count) {
    const Part& top = parts[count - 1];
    const int64_t whole = extent / top.divide;
    if (whole > 0) {
      LayoutCopy box = begin;
      box.axes.push_back({whole, top.outside, top.inside});
      for (size_t k = count - 1; k-- > 0;) {
        box.axes.push_back({parts[k + 1].divide / parts[k].divide, parts[k].outside, parts[k].inside});
      }
      boxes.push_back(std::move(box));
    }
    begin.outside += whole * top.outside;
    begin.inside += whole * top.inside;
    extent -= whole * top.divide;
  }
  return boxes;
}

// Makes one loop of two that go on in each other on both sides.
void merge_axes(std::vector<CopyAxis>& axes) {
  std::erase_if(axes, [](const CopyAxis& axis) { return axis.extent == 1; });
  std::ranges::sort(axes, {}, &CopyAxis::outside);
  std::vector<CopyAxis> merged;
  for (const CopyAxis& axis : axes) {
    const bool goes_on = !merged.empty() && axis.outside == merged.back().outside * merged.back().extent &&
                         axis.inside == merged.back().inside * merged.back().extent;
    if (goes_on) {
      merged.back().extent *= axis.extent;
    } else {
      merged.push_back(axis);
    }
  }
  axes = std::move(merged);
}

void order_axes(std::vector<CopyAxis>& axes) {
  merge_axes(axes);
  while (axes.size() < 2) axes.push_back({});
  std::sort(axes.begin() + 1, axes.end(),
            [](const CopyAxis& one, const CopyAxis& other) { return one.inside < other.inside; });
  if (axes.size() < 4 || axes[0].inside != 1) return;
  const auto nearest = std::min_element(
      axes.begin() + 2, axes.end(),
      [](const CopyAxis& one, const CopyAxis& other) { return one.outside < other.outside; });
  std::rotate(axes.begin() + 2, nearest, nearest + 1);
}

}  // namespace

std::vector<LayoutCopy> copy_plan(const Layout& layout, std::span<const int64_t> shape) {
  const std::vector<std::vector<Part>> parts = parts_of(layout, shape);
  std::vector<LayoutCopy> copies(1);
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<LayoutCopy> longer;
    for (const LayoutCopy& copy : copies) {
      for (const LayoutCopy& box : boxes_of(parts[d], shape[d])) {
        LayoutCopy both{copy.outside + box.outside, copy.inside + box.inside, copy.axes};
        both.axes.insert(both.axes.end(), box.axes.begin(), box.axes.end());
        longer.push_back(std::move(both));
      }
    }
    copies = std::move(longer);
  }
  for (LayoutCopy& copy : copies) order_axes(copy.axes);
  return copies;
}

}  // namespace lathe
