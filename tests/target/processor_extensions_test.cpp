#include "target/processor_extensions.h"

#include <gtest/gtest.h>

#include "target/detect.h"

namespace lathe {
namespace {

TEST(ProcessorExtensions, AreThoseOfTheDetectedTarget) {
  const Target target = detect_target();
  for (size_t i = 0; i < kExtensions.size(); ++i) {
    const bool has = (processor_extensions() >> i & 1) != 0;
    EXPECT_EQ(target.has(kExtensions[i].name), has && kExtensions[i].isa <= target.isa);
  }
  __builtin_cpu_init();
  EXPECT_EQ((processor_extensions() & 2) != 0, __builtin_cpu_supports("avx512vnni") != 0);
}

}  // namespace
}  // namespace lathe
