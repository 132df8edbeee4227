// The sliding window that convolutions and poolings share, over any number of spatial axes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/tensor_type.h"
#include "ops/window.h"

namespace lathe {

class OnnxNode;  // graph/onnx/node.h

// One entry a spatial axis in each vector; pads are in elements, before and after the axis.
struct SlidingWindow {
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape pads_before;
  Shape pads_after;

  bool operator==(const SlidingWindow&) const = default;
};

// How many elements of spatial axis `d` the kernel reaches over, dilation counted.
int64_t reach(const SlidingWindow& window, size_t d);
// An Error unless each vector has `rank` entries that are in range.
Status check_window(const SlidingWindow& window, size_t rank);
// An Error unless the shape is [N, C, one to three spatial axes].
Status check_image(const Shape& data);
// The spatial extents of the output for those of the input (rounded down); an Error if the window does not
// fit or the ranks differ.
Result<Shape> output_extents(const SlidingWindow& window, const Shape& spatial);
// The window's attributes as text: "kernel [3,3], strides [2,2], pads [1,1,1,1]"; defaults are left out.
std::string to_string(const SlidingWindow& window);
// The same window as the operator library takes it; the kernel is the weight's there.
Window ops_window(const SlidingWindow& window);
// Reads kernel_shape, strides, dilations, pads and auto_pad of a node whose input 0 is [N, C, spatial...].
// Where `kernel_shape` is absent the kernel is `weight_kernel`; empty: it is required.
Result<SlidingWindow> import_window(OnnxNode& node, const Shape& weight_kernel);

// Calls `visit(tap, positions)` for each kernel tap whose input position lies within `spatial`, for the
// output at `output`: the reference's way through a window.
template <class Visit>
void for_each_tap(const SlidingWindow& window, const Shape& spatial, const Shape& output, Visit visit) {
  Shape tap(spatial.size(), 0), position(spatial.size());
  for (int64_t count = elements_of(window.kernel), i = 0; i < count; ++i) {
    bool inside = true;
    for (size_t d = 0; d < spatial.size(); ++d) {
      position[d] = output[d] * window.strides[d] + tap[d] * window.dilations[d] - window.pads_before[d];
      inside = inside && position[d] >= 0 && position[d] < spatial[d];
    }
    if (inside) visit(tap, position);
    for (size_t d = spatial.size(); d-- > 0;) {
      if (++tap[d] < window.kernel[d]) break;
      tap[d] = 0;
    }
  }
}

}  // namespace lathe
