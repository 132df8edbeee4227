#include "target/cpu/cpu_target.h"

#include <gtest/gtest.h>

#include "target/detect.h"

namespace lathe {
namespace {

TEST(CpuTarget, LanesFollowFromTheElements) {
  CpuTarget cpu;
  cpu.vector_bytes = 32;
  EXPECT_EQ(cpu.lanes(1), 32);
  EXPECT_EQ(cpu.lanes(4), 8);
  EXPECT_EQ(cpu.lanes(8), 4);
}

TEST(DetectCaches, OfACpuThatIsThereAreLargerFurtherAway) {
  CpuTarget cpu;
  detect_caches(cpu, allowed_cpus().front());
  if (cpu.l1.bytes == 0) GTEST_SKIP() << "the operating system says nothing of this machine's caches";
  EXPECT_GE(cpu.l1.bytes, 8 << 10);
  EXPECT_LT(cpu.l1.bytes, cpu.l2.bytes);
}

TEST(DetectCaches, OfACpuThatIsNotThereStayAsTheyWere) {
  CpuTarget cpu;
  cpu.l1.bytes = 5;
  const CpuTarget before = cpu;
  detect_caches(cpu, 1 << 20);
  EXPECT_EQ(cpu, before);
}

}  // namespace
}  // namespace lathe
