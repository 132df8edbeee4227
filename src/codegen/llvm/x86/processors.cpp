#include "codegen/llvm/x86/processors.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

#include "codegen/llvm/x86/single_lane_stores.h"

namespace lathe::llvm_backend {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

constexpr ExtensionFeature kExtensionFeatures[] = {
    {"avx_vnni", "+avxvnni"}, {"avx512_vnni", "+avx512vnni"}, {"avx512_bf16", "+avx512bf16"}};

void initialise() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

void fence_streams(llvm::IRBuilderBase& builder) {
  builder.CreateIntrinsic(builder.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
}

}  // namespace

const Processor kAvx2 = {"x86-avx2",         kTriple,    "haswell",     "+avx2,+fma",
                         kExtensionFeatures, initialise, fence_streams, scalarize_single_lane_stores};
// LLVM would halve the vectors of this processor.
const Processor kAvx512 = {"x86-avx512",       kTriple,    "skylake-avx512", "-prefer-256-bit",
                           kExtensionFeatures, initialise, fence_streams,    scalarize_single_lane_stores};

}  // namespace lathe::llvm_backend
