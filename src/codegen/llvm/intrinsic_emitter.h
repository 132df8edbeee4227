// An intrinsic on LLVM values: the target's instruction for so many lanes, else multiplications and
// additions.
#pragma once

#include "codegen/llvm/guard.h"
#include "intrinsics/intrinsic.h"

namespace lathe::llvm_backend {

// What `intrinsic` gives of the accumulator and the factors, whose elements are as they lie in memory.
llvm::Value* emit_intrinsic(Builder& builder, const Intrinsic& intrinsic, const Target& target,
                            llvm::Value* accumulator, llvm::Value* a, llvm::Value* b);

}  // namespace lathe::llvm_backend
