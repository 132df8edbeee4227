// Between the caller's row-major tensors and what kernels read and write: a tensor whose layout inside is
// another, or whose address kernels cannot use, goes through a buffer of the call's own. Constant once made:
// any number of calls may use it at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "artifact/runtime/instructions.h"
#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/model_tables.h"

namespace lathe {

class TensorStaging {
 public:
  TensorStaging() = default;
  // Both must outlive the object; `instructions` are those of its model.
  TensorStaging(const LatheTensor& tensor, const Instructions& instructions);

  const LatheTensor& tensor() const { return *tensor_; }
  // Row-major bytes: what the caller passes.
  int64_t bytes() const { return bytes_; }
  // Whether it is copied as it is, and few bytes are.
  bool is_small_run() const { return is_small_run_; }
  // Whether kernels can use the caller's memory itself.
  bool usable_in_place(const void* data) const {
    return tensor_->is_row_major != 0 && reinterpret_cast<uintptr_t>(data) % kModelAlignment == 0;
  }

  // Makes kernels' memory for a copy of the tensor where the block is none yet.
  bool make_block(AlignedBlock& block) const;
  // From the caller's memory to that of kernels and back. The pool, where there is one, shares the copying of
  // large tensors. Block padding belongs to no element and is not written.
  void import_to(std::byte* inner, const void* outer, const LatheParallel* pool) const {
    if (!is_small_run_) return convert_inside(inner, outer, pool);
    std::memcpy(inner, outer, static_cast<size_t>(bytes_));
  }
  void export_to(void* outer, const std::byte* inner, const LatheParallel* pool) const {
    if (!is_small_run_) return convert_outside(outer, inner, pool);
    std::memcpy(outer, inner, static_cast<size_t>(bytes_));
  }

 private:
  void convert_inside(std::byte* inner, const void* outer, const LatheParallel* pool) const;
  void convert_outside(void* outer, const std::byte* inner, const LatheParallel* pool) const;

  const LatheTensor* tensor_ = nullptr;
  const Instructions* instructions_ = nullptr;
  int64_t bytes_ = 0;
  bool is_small_run_ = false;
};

}  // namespace lathe
