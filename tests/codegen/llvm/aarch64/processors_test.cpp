#include "codegen/llvm/aarch64/processors.h"

#include <gtest/gtest.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "codegen/llvm/machine.h"

namespace lathe::testing {
namespace {

using llvm_backend::kNeon;

TEST(Aarch64Processors, NeonIsAllThereIs) {
  const auto machine = llvm_backend::make_machine(kNeon, {});
  ASSERT_TRUE(machine) << machine.error().to_string();
  EXPECT_EQ((*machine)->getTargetTriple().getArch(), llvm::Triple::aarch64);
  EXPECT_EQ((*machine)->getTargetTriple().getOS(), llvm::Triple::Linux);
  EXPECT_TRUE((*machine)->getMCSubtargetInfo()->checkFeatures("+neon"));
  EXPECT_FALSE((*machine)->getMCSubtargetInfo()->checkFeatures("+sve"));
  EXPECT_FALSE((*machine)->getMCSubtargetInfo()->checkFeatures("+dotprod"));
}

TEST(Aarch64Processors, ExtensionsOfOthersChangeNothing) {
  const auto plain = llvm_backend::make_machine(kNeon, {});
  const auto asked = llvm_backend::make_machine(kNeon, {"avx512_vnni"});
  ASSERT_TRUE(plain && asked);
  EXPECT_EQ((*plain)->getTargetFeatureString(), (*asked)->getTargetFeatureString());
}

// Its stores past the caches are in order, and nothing of its selection needs mending.
TEST(Aarch64Processors, NothingIsFencedOrMended) {
  EXPECT_EQ(kNeon.fence_streams, nullptr);
  EXPECT_EQ(kNeon.mend, nullptr);
}

}  // namespace
}  // namespace lathe::testing
