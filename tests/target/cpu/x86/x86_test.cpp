#include "target/cpu/x86/x86.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(X86, GenericTargetsKnowTheirRegisters) {
  EXPECT_EQ(generic_avx2().cpu().vector_registers, 16);
  EXPECT_EQ(generic_avx2().cpu().lanes(4), 8);
  EXPECT_EQ(generic_avx512().cpu().vector_registers, 32);
  EXPECT_EQ(generic_avx512().cpu().lanes(4), 16);
}

}  // namespace
}  // namespace lathe
