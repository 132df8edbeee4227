// Part of a tensor of free sizes: where its elements lie in the caller's row-major memory, and where in that
// of a plan, which is as large as the plan's sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "artifact/runtime/model_tables.h"

namespace lathe {

constexpr int kMostDimensions = 8;
constexpr int kMostAxes = 64;

// What a run of a plan computes of a call: of each dimension so many places from one on, at the plan's size.
struct SizedPart {
  int64_t size = 1;  // of the call
  int64_t begin = 0;
  int64_t count = 1;
  int64_t planned = 1;  // the plan's size
};

class SizedBox {
 public:
  // `tensor` is the plan's; false where it has more axes than there is room for.
  bool create(const LatheTensor& tensor, bool is_output, int index, const lathe_free_sizes& sizes,
              const SizedPart* parts);

  // Whether the plan's tensor is all filled, and lies in the caller's memory as it is.
  bool is_in_place() const { return is_in_place_; }
  // Of the first element in the caller's memory.
  int64_t offset_bytes() const { return offset_ * element_bytes_; }
  // Places behind those that count hold what the last of them holds: products may add rows beside each other
  // up (rewrite/strassen.h), and what is computed of such a place is as finite as its own results are, and
  // the same in each call.
  void copy_in(std::byte* planned, const std::byte* given) const;
  void copy_out(std::byte* given, const std::byte* planned) const;

 private:
  struct Axis {
    int64_t given;    // places of the caller's tensor
    int64_t planned;  // of the plan's
    int64_t begin;
    int64_t count;
  };
  void add(Axis axis) { axes_[axis_count_++] = axis; }
  void measure();
  void repeat_last_places(std::byte* planned) const;
  template <class Copy>
  void for_each_run(Copy copy) const;

  Axis axes_[kMostAxes];
  int axis_count_ = 0;
  int64_t element_bytes_ = 0;
  int64_t offset_ = 0;  // in elements
  bool is_in_place_ = false;
};

}  // namespace lathe
