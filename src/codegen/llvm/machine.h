// From LLVM IR to machine code: the processor, the short list of IR passes, the machine pipeline.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/llvm/processor.h"
#include "codegen/llvm/spills.h"

namespace lathe::llvm_backend {

enum class Output { object, assembly };

// A code generator for that processor with these of its extensions. An Error (unsupported) where this LLVM
// does not know it. Thread-safe.
Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Processor& processor,
                                                          const std::vector<std::string>& extensions);

// Vector registers to values, common subexpressions, invariant code, tidy branches. No vectoriser, no
// unroller, no inliner: the schedule has decided all that.
void run_passes(llvm::Module& module, llvm::TargetMachine& machine, const Processor& processor);

// Leaves out what takes LLVM more than proportional time in long blocks: they are cut in pieces, and machine
// code is not optimised.
void forgo_optimization(llvm::Module& module, llvm::TargetMachine& machine);

// Machine code of a module that run_passes has seen; the module is used up. `reorders`: whether LLVM may
// order the instructions of a block as its model of the processor likes (its machine scheduler), else they
// stay in the order of the program.
Result<std::string> emit_machine_code(llvm::Module& module, llvm::TargetMachine& machine, Output output,
                                      bool reorders, SpillCount& spills);

// The number of instructions in the longest block.
size_t longest_block(const llvm::Module& module);

}  // namespace lathe::llvm_backend
