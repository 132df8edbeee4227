// Between the caller's row-major tensors and what kernels read and write: a tensor whose layout inside is
// another, or whose address kernels cannot use, goes through a buffer of the model's own.
#pragma once

#include <cstdint>
#include <vector>

#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/model_tables.h"

namespace lathe {

class TensorStaging {
 public:
  // `tensor` must outlive the object.
  explicit TensorStaging(const LatheTensor& tensor);

  const LatheTensor& tensor() const { return *tensor_; }
  // Row-major bytes: what the caller passes.
  int64_t bytes() const { return elements_ * tensor_->element_bytes; }

  // Where kernels find the input whose row-major bytes are at `data`: there, or in a copy.
  void* import_from(const void* data);
  // Where kernels write the output that belongs at `data`; `export_to` brings it there afterwards.
  void* place_for(void* data);
  void export_to(void* data) const;

 private:
  bool usable_in_place(const void* data) const;
  std::byte* staged();
  void make_offsets();

  const LatheTensor* tensor_;
  int64_t elements_ = 1;
  std::vector<std::vector<int64_t>> offsets_;  // [dim][index]: summed over dims, an element's place inside
  size_t packed_ = 0;                          // the dimension with neighbours side by side inside
  AlignedBlock block_;                         // made when first needed
};

}  // namespace lathe
