#include <gtest/gtest.h>

#include "target/cpu/x86/x86.h"

namespace lathe {
namespace {

TEST(DetectX86, OneMachineHasTheSameCachesWhateverItsInstructions) {
  const std::optional<Target> narrow = detect_avx2();
  const std::optional<Target> wide = detect_avx512();
  if (!narrow) {
    EXPECT_FALSE(wide);
    GTEST_SKIP() << "this machine has no AVX2";
  }
  EXPECT_NE(narrow->machine.find("family"), std::string::npos) << narrow->machine;
  EXPECT_EQ(narrow->cpu().vector_bytes, 32);
  if (!wide) return;
  EXPECT_EQ(wide->cpu().vector_bytes, 64);
  EXPECT_EQ(wide->machine, narrow->machine);
  EXPECT_EQ(wide->cpu().cores, narrow->cpu().cores);
  EXPECT_EQ(wide->cpu().l1, narrow->cpu().l1);
  EXPECT_EQ(wide->cpu().l2, narrow->cpu().l2);
  EXPECT_EQ(wide->cpu().l3, narrow->cpu().l3);
}

}  // namespace
}  // namespace lathe
