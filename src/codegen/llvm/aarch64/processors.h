// LLVM's 64-bit Arm processors.
#pragma once

#include "codegen/llvm/processor.h"

namespace lathe::llvm_backend {

extern const Processor kNeon;

}  // namespace lathe::llvm_backend
