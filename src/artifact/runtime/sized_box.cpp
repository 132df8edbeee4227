#include "artifact/runtime/sized_box.h"

#include <cstring>

#include "artifact/runtime/model_error.h"

namespace lathe {
namespace {

const lathe_free_extent* extent_of(const lathe_free_sizes& sizes, bool is_output, int tensor, int axis) {
  for (int i = 0; i < sizes.extent_count; ++i) {
    const lathe_free_extent& extent = sizes.extents[i];
    if ((extent.is_output != 0) == is_output && extent.tensor == tensor && extent.axis == axis)
      return &extent;
  }
  return nullptr;
}

}  // namespace

bool SizedBox::create(const LatheTensor& tensor, bool is_output, int index, const lathe_free_sizes& sizes,
                      const SizedPart* parts) {
  axis_count_ = 0;
  element_bytes_ = tensor.element_bytes;
  if (tensor.rank * 3 > kMostAxes)
    return model_error("'%s' has %d axes, and a model with free sizes takes %d", tensor.name, tensor.rank,
                       kMostAxes / 3);
  for (int d = 0; d < tensor.rank; ++d) {
    const lathe_free_extent* const extent = extent_of(sizes, is_output, index, d);
    if (extent == nullptr) {
      add({tensor.shape[d], tensor.shape[d], 0, tensor.shape[d]});
      continue;
    }
    const SizedPart& part = parts[extent->dimension];
    add({extent->outer, extent->outer, 0, extent->outer});
    add({part.size, part.planned, part.begin, part.count});
    add({extent->inner, extent->inner, 0, extent->inner});
  }
  measure();
  return true;
}

void SizedBox::measure() {
  offset_ = 0;
  for (int d = 0; d < axis_count_; ++d) offset_ = offset_ * axes_[d].given + axes_[d].begin;
  is_in_place_ = true;
  bool is_cut = false;  // an axis further in is not taken whole
  for (int d = axis_count_ - 1; d >= 0; --d) {
    const Axis& axis = axes_[d];
    if (axis.count != axis.planned || (is_cut && axis.count != 1)) is_in_place_ = false;
    is_cut = is_cut || axis.count != axis.given;
  }
}

// copy(element of the plan's, element of the caller's, elements)
template <class Copy>
void SizedBox::for_each_run(Copy copy) const {
  int last = axis_count_;  // from which axis on all lies side by side in both
  int64_t run = 1;
  while (last > 0) {
    const Axis& axis = axes_[--last];
    run *= axis.count;
    if (axis.count != axis.planned || axis.count != axis.given) break;
  }
  int64_t index[kMostAxes] = {};
  for (;;) {
    int64_t planned = 0;
    int64_t given = 0;
    for (int d = 0; d < axis_count_; ++d) {
      planned = planned * axes_[d].planned + index[d];
      given = given * axes_[d].given + axes_[d].begin + index[d];
    }
    copy(planned, given, run);
    int d = last;
    while (d > 0 && ++index[d - 1] == axes_[d - 1].count) index[--d] = 0;
    if (d == 0) return;
  }
}

void SizedBox::copy_in(std::byte* planned, const std::byte* given) const {
  for_each_run([&](int64_t to, int64_t from, int64_t count) {
    std::memcpy(planned + to * element_bytes_, given + from * element_bytes_,
                static_cast<size_t>(count * element_bytes_));
  });
  repeat_last_places(planned);
}

// From the innermost axis on: what lies behind an outer one is then whole.
void SizedBox::repeat_last_places(std::byte* planned) const {
  int64_t inner = element_bytes_;
  int64_t outer = 1;
  for (int d = 0; d < axis_count_; ++d) outer *= axes_[d].planned;
  for (int d = axis_count_ - 1; d >= 0; --d) {
    const Axis& axis = axes_[d];
    outer /= axis.planned;
    for (int64_t i = 0; i < outer && axis.count < axis.planned; ++i) {
      std::byte* const line = planned + i * axis.planned * inner;
      const std::byte* const last = line + (axis.count - 1) * inner;
      for (int64_t place = axis.count; place < axis.planned; ++place)
        std::memcpy(line + place * inner, last, static_cast<size_t>(inner));
    }
    inner *= axis.planned;
  }
}

void SizedBox::copy_out(std::byte* given, const std::byte* planned) const {
  for_each_run([&](int64_t from, int64_t to, int64_t count) {
    std::memcpy(given + to * element_bytes_, planned + from * element_bytes_,
                static_cast<size_t>(count * element_bytes_));
  });
}

}  // namespace lathe
