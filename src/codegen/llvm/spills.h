// What LLVM's register allocator left in memory where it hurts: a spill in the innermost loop of a register
// tile costs two to three times the kernel's speed.
#pragma once

namespace llvm {
class MachineFunctionPass;
}

namespace lathe {

struct SpillCount {
  int innermost_loops = 0;    // loops without a loop inside
  int stack_references = 0;   // instructions in them that read or write a stack slot
  int vector_references = 0;  // of those, the ones that move a vector: a register tile that does not fit
};

namespace llvm_backend {

// A pass that adds each machine function's counts to `count`; it belongs after register allocation and frame
// lowering. The pass manager that it is given to owns it; `count` must outlive it.
llvm::MachineFunctionPass* make_spill_counter(SpillCount& count);

}  // namespace llvm_backend
}  // namespace lathe
