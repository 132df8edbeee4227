#include "artifact/runtime/tensor_staging.h"

#include "artifact/runtime/copy_layout.h"

namespace lathe {

TensorStaging::TensorStaging(const LatheTensor& tensor, const Instructions& instructions)
    : tensor_(&tensor), instructions_(&instructions), bytes_(tensor.element_bytes) {
  constexpr int64_t kSmall = 32 << 10;  // bytes: a larger copy may pass caches and use several threads
  for (int32_t d = 0; d < tensor.rank; ++d) bytes_ *= tensor.shape[d];
  is_small_run_ = tensor.is_row_major != 0 && bytes_ <= kSmall;
}

bool TensorStaging::make_block(AlignedBlock& block) const {
  // Block padding belongs to no element: it stays 0.
  return block.data() != nullptr || block.create_copy(tensor_->storage_bytes, *tensor_);
}

void TensorStaging::convert_inside(std::byte* inner, const void* outer, const LatheParallel* pool) const {
  copy_inside(*tensor_, *instructions_, outer, inner, pool);
}

void TensorStaging::convert_outside(void* outer, const std::byte* inner, const LatheParallel* pool) const {
  copy_outside(*tensor_, *instructions_, inner, outer, pool);
}

}  // namespace lathe
