#include "artifact/runtime/tensor_staging.h"

#include "artifact/runtime/copy_layout.h"

namespace lathe {

TensorStaging::TensorStaging(const LatheTensor& tensor, const Instructions& instructions)
    : tensor_(&tensor), instructions_(&instructions), bytes_(tensor.element_bytes) {
  for (int32_t d = 0; d < tensor.rank; ++d) bytes_ *= tensor.shape[d];
}

bool TensorStaging::make_block(AlignedBlock& block) const {
  // Block padding belongs to no element: it stays 0.
  return block.data() != nullptr || block.create_copy(tensor_->storage_bytes, *tensor_);
}

void TensorStaging::import_to(std::byte* inner, const void* outer, const LatheParallel* pool) const {
  copy_inside(*tensor_, *instructions_, outer, inner, pool);
}

void TensorStaging::export_to(void* outer, const std::byte* inner, const LatheParallel* pool) const {
  copy_outside(*tensor_, *instructions_, inner, outer, pool);
}

}  // namespace lathe
