// Statements as LLVM functions: an entry, and a function of its own for each parallel loop in it.
#pragma once

#include "codegen/llvm/processor.h"
#include "codegen/llvm/value_emitter.h"
#include "lower/lower.h"

namespace lathe::llvm_backend {

// Defines the function `name` with the signature LatheKernel that runs `body`. `lowered` has passed
// check_lowered.
void emit_entry(llvm::Module& module, const Processor& processor, const Target& target,
                const LoweredProgram& lowered, const Stmt& body, const std::string& name);

}  // namespace lathe::llvm_backend
