#include "target/cpu/aarch64/aarch64.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(AArch64, TheGenericTargetKnowsItsRegisters) {
  EXPECT_EQ(generic_neon().cpu().vector_registers, 32);
  EXPECT_EQ(generic_neon().cpu().lanes(4), 4);
  EXPECT_EQ(generic_neon().cpu().lanes(1), 16);
}

}  // namespace
}  // namespace lathe
