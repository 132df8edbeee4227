// LLVM's processors have the instructions that the targets promise, and no others.
#include "codegen/llvm/x86/processors.h"

#include <gtest/gtest.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "codegen/llvm/ir_function.h"
#include "codegen/llvm/machine.h"

namespace lathe::testing {
namespace {

using llvm_backend::kAvx2;
using llvm_backend::kAvx512;
using llvm_backend::Processor;

bool has(const Processor& processor, const std::vector<std::string>& extensions, const char* features) {
  const auto machine = llvm_backend::make_machine(processor, extensions);
  EXPECT_TRUE(machine) << machine.error().to_string();
  return machine && (*machine)->getMCSubtargetInfo()->checkFeatures(features);
}

struct Case {
  const Processor* processor;
  const char* features;
  bool is_there;
};

TEST(X86Processors, HaveWhatTheirTargetsPromise) {
  for (const Case& c :
       {Case{&kAvx2, "+avx2,+fma", true}, Case{&kAvx2, "+avx512f", false}, Case{&kAvx2, "+avxvnni", false},
        Case{&kAvx512, "+avx2,+fma,+avx512f,+avx512vl,+avx512bw,+avx512dq", true},
        Case{&kAvx512, "+avx512vnni", false}, Case{&kAvx512, "+avx512bf16", false},
        Case{&kAvx512, "+prefer-256-bit", false}})
    EXPECT_EQ(has(*c.processor, {}, c.features), c.is_there) << c.processor->target << c.features;
}

TEST(X86Processors, ExtensionsAreAddedOneByOne) {
  EXPECT_TRUE(has(kAvx2, {"avx_vnni"}, "+avx2,+fma,+avxvnni"));
  EXPECT_TRUE(has(kAvx512, {"avx512_vnni"}, "+avx512vnni"));
  EXPECT_FALSE(has(kAvx512, {"avx512_vnni"}, "+avx512bf16"));
  EXPECT_TRUE(has(kAvx512, {"avx512_vnni", "avx512_bf16"}, "+avx512vnni,+avx512bf16"));
}

TEST(X86Processors, StreamsAreFenced) {
  for (const Processor* processor : {&kAvx2, &kAvx512}) {
    IrFunction f;
    ASSERT_NE(processor->fence_streams, nullptr);
    processor->fence_streams(f.builder);
    EXPECT_EQ(f.text(), "call void @llvm.x86.sse.sfence()\n");
    EXPECT_NE(processor->mend, nullptr);
  }
}

}  // namespace
}  // namespace lathe::testing
