// Casts between Lathe's types, as LLVM's instructions (docs/numerics.md says what each gives).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/guard.h"
#include "expr/type.h"

namespace lathe::llvm_backend {

// The value, of type `from`, as one of type `to` with as many lanes.
llvm::Value* convert(Builder& builder, llvm::Value* value, DType from, Type to);

// The bits of a float of a type that nothing is computed in.
uint64_t storage_bits(DType dtype, double value);

}  // namespace lathe::llvm_backend
