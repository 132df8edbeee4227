#include "codegen/llvm/processor.h"

#include "codegen/llvm/aarch64/processors.h"
#include "codegen/llvm/x86/processors.h"

namespace lathe::llvm_backend {

const Processor* find_processor(std::string_view target) {
  for (const Processor* processor : {&kAvx2, &kAvx512, &kNeon}) {
    if (processor->target == target) return processor;
  }
  return nullptr;
}

}  // namespace lathe::llvm_backend
