// Moves a tensor's elements between the caller's row-major storage and the kernels' layout, by the copies of
// its table. Nothing is allocated and nothing can fail.
#pragma once

#include "artifact/runtime/instructions.h"
#include "artifact/runtime/model_tables.h"
#include "lathe/kernel_abi.h"

namespace lathe {

// `instructions`: those of the model, which this processor has. Large tensors are shared out among the pool's
// threads; null: all is done by the calling one. Storage inside keeps what lies between its elements.
void copy_inside(const LatheTensor& tensor, const Instructions& instructions, const void* outside,
                 void* inside, const LatheParallel* pool);
void copy_outside(const LatheTensor& tensor, const Instructions& instructions, const void* inside,
                  void* outside, const LatheParallel* pool);

}  // namespace lathe
