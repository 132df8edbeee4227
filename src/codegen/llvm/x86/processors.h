// LLVM's x86 processors.
#pragma once

#include "codegen/llvm/processor.h"

namespace lathe::llvm_backend {

extern const Processor kAvx2;
extern const Processor kAvx512;

}  // namespace lathe::llvm_backend
