// A mend for LLVM 22's selection of x86 instructions with AVX-512.
#pragma once

#include <llvm/IR/Module.h>

namespace lathe::llvm_backend {

// Turns masked stores of one known lane into stores of that lane. LLVM would do so itself, but where the
// value is narrowed (i64 to i32, i32 to i8) it takes the store and forgets the narrowing: as many bytes as
// before it are written, over what lies behind.
void scalarize_single_lane_stores(llvm::Module& module);

}  // namespace lathe::llvm_backend
