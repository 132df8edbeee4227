// Lathe's types as LLVM's. Booleans are bits as values and bytes in memory; floats that nothing is computed
// in are their bits.
#pragma once

#include <llvm/IR/DerivedTypes.h>

#include "expr/type.h"

namespace lathe::llvm_backend {

llvm::Type* value_type(llvm::LLVMContext& context, Type type);
llvm::Type* memory_type(llvm::LLVMContext& context, Type type);

}  // namespace lathe::llvm_backend
