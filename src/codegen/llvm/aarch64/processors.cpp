#include "codegen/llvm/aarch64/processors.h"

#include <llvm/Support/TargetSelect.h>

namespace lathe::llvm_backend {
namespace {

void initialise() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}

}  // namespace

// Its stores past the caches are in order with all others: what hands on work fences them as well.
const Processor kNeon = {
    "aarch64-neon", "aarch64-unknown-linux-gnu", "generic", "+neon", {}, initialise, nullptr, nullptr};

}  // namespace lathe::llvm_backend
