// Counts what LLVM's register allocator left in memory.
#pragma once

#include "codegen/emit_stats.h"

namespace llvm {
class MachineFunctionPass;
}

namespace lathe::llvm_backend {

// A pass that adds each machine function's counts to `count`; it belongs after register allocation and frame
// lowering. The pass manager that it is given to owns it; `count` must outlive it.
llvm::MachineFunctionPass* make_spill_counter(SpillCount& count);

}  // namespace lathe::llvm_backend
