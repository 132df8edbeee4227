// Sliding windows: what convolutions and poolings share. Padding is a compute of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// One entry for each spatial dimension, or none for the default.
struct Window {
  std::vector<int64_t> stride;         // default 1
  std::vector<int64_t> padding;        // elements in front, default 0
  std::vector<int64_t> padding_after;  // elements behind, default as in front
  std::vector<int64_t> dilation;       // default 1

  int64_t stride_of(size_t d) const { return stride.empty() ? 1 : stride[d]; }
  int64_t dilation_of(size_t d) const { return dilation.empty() ? 1 : dilation[d]; }
  int64_t before(size_t d) const { return padding.empty() ? 0 : padding[d]; }
  int64_t after(size_t d) const { return padding_after.empty() ? before(d) : padding_after[d]; }
};

// The same in every one of `count` dimensions.
Window uniform_window(size_t count, int64_t stride, int64_t padding, int64_t dilation = 1);

// (input + paddings - dilation*(kernel-1) - 1) / stride + 1, rounded down; below 1 where the kernel does not
// fit.
int64_t window_count(int64_t input, int64_t kernel, const Window& window, size_t d);
// An Error, naming the extents, unless the kernel fits in every dimension.
Status check_window(std::span<const int64_t> input, std::span<const int64_t> kernel, const Window& window);

// The tensor with its dimensions from `first_dim` on widened by the window's paddings and filled with
// `value`, as a compute "NAME.pad"; negative paddings cut. The tensor itself where nothing is padded.
Tensor pad(DagBuilder& builder, const Tensor& tensor, size_t first_dim, size_t count, const Window& window,
           double value = 0.0);

}  // namespace lathe
