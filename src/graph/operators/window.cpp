#include "graph/operators/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/node.h"

namespace lathe {

namespace {

// Keeps every product of two window attributes within int64.
constexpr int64_t kLargestAttribute = int64_t{1} << 30;

Status check_values(const char* name, const Shape& values, size_t rank, int64_t least) {
  if (values.size() != rank) {
    return fail(ErrorKind::invalid_argument, fmt::format("{} {} has {} entries for {} spatial axes", name,
                                                         to_string(values), values.size(), rank));
  }
  for (int64_t value : values) {
    if (value < least || value > kLargestAttribute) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} {} has an entry that is not within {} .. {}", name, to_string(values),
                              least, kLargestAttribute));
    }
  }
  return {};
}

// The pads that make the output as large as the input over the stride, rounded up.
void set_same_pads(SlidingWindow& window, const Shape& spatial, bool upper) {
  for (size_t d = 0; d < spatial.size(); ++d) {
    const int64_t out = (spatial[d] + window.strides[d] - 1) / window.strides[d];
    const int64_t total = std::max<int64_t>(0, (out - 1) * window.strides[d] + reach(window, d) - spatial[d]);
    window.pads_before[d] = upper ? total / 2 : total - total / 2;
    window.pads_after[d] = total - window.pads_before[d];
  }
}

bool all_are(const Shape& values, int64_t value) {
  return std::all_of(values.begin(), values.end(), [value](int64_t v) { return v == value; });
}

}  // namespace

int64_t reach(const SlidingWindow& window, size_t d) {
  return (window.kernel[d] - 1) * window.dilations[d] + 1;
}

Status check_window(const SlidingWindow& window, size_t rank) {
  LATHE_TRY_STATUS(check_values("kernel", window.kernel, rank, 1));
  LATHE_TRY_STATUS(check_values("strides", window.strides, rank, 1));
  LATHE_TRY_STATUS(check_values("dilations", window.dilations, rank, 1));
  LATHE_TRY_STATUS(check_values("pads", window.pads_before, rank, 0));
  return check_values("pads", window.pads_after, rank, 0);
}

Status check_image(const Shape& data) {
  if (data.size() >= 3 && data.size() <= 5) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("input 0 has shape {}, and Lathe supports [N, C, one to three spatial axes]",
                          to_string(data)));
}

Result<Shape> output_extents(const SlidingWindow& window, const Shape& spatial) {
  LATHE_TRY_STATUS(check_window(window, spatial.size()));
  Shape result;
  for (size_t d = 0; d < spatial.size(); ++d) {
    const int64_t padded = spatial[d] + window.pads_before[d] + window.pads_after[d];
    if (padded < reach(window, d)) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("the kernel reaches over {} elements of spatial axis {}, which has {} with its padding",
                      reach(window, d), d, padded));
    }
    result.push_back((padded - reach(window, d)) / window.strides[d] + 1);
  }
  return result;
}

std::string to_string(const SlidingWindow& window) {
  std::string text = "kernel " + to_string(window.kernel);
  if (!all_are(window.strides, 1)) text += ", strides " + to_string(window.strides);
  if (!all_are(window.dilations, 1)) text += ", dilations " + to_string(window.dilations);
  if (!all_are(window.pads_before, 0) || !all_are(window.pads_after, 0)) {
    Shape pads = window.pads_before;
    pads.insert(pads.end(), window.pads_after.begin(), window.pads_after.end());
    text += ", pads " + to_string(pads);
  }
  return text;
}

Window ops_window(const SlidingWindow& window) {
  return {window.strides, window.pads_before, window.pads_after, window.dilations};
}

Result<SlidingWindow> import_window(OnnxNode& node, const Shape& weight_kernel) {
  const Shape& data = node.shape(0);
  LATHE_TRY_STATUS(check_image(data));
  const Shape spatial(data.begin() + 2, data.end());
  const size_t rank = spatial.size();
  SlidingWindow window;
  window.kernel = node.integers("kernel_shape", weight_kernel);
  if (window.kernel.empty())
    return fail(ErrorKind::invalid_argument, "it lacks the attribute 'kernel_shape'");
  window.strides = node.integers("strides", Shape(rank, 1));
  window.dilations = node.integers("dilations", Shape(rank, 1));
  const Shape pads = node.integers("pads", Shape(2 * rank, 0));
  LATHE_TRY_STATUS(check_values("pads", pads, 2 * rank, 0));
  window.pads_before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.pads_after.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  LATHE_TRY_STATUS(check_window(window, rank));
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    set_same_pads(window, spatial, automatic == "SAME_UPPER");
  } else if (automatic == "VALID") {  // pads beside it count for nothing
    window.pads_before.assign(rank, 0);
    window.pads_after.assign(rank, 0);
  } else if (automatic != "NOTSET") {
    return fail(ErrorKind::unsupported,
                fmt::format("attribute 'auto_pad' is '{}', which Lathe does not support", automatic));
  }
  return window;
}

}  // namespace lathe
