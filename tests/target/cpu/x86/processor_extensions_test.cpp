#include "target/cpu/x86/processor_extensions.h"

#include <gtest/gtest.h>

#include "target/detect.h"

namespace lathe {
namespace {

TEST(ProcessorExtensions, AreThoseOfTheDetectedTarget) {
  const Target target = detect_target().value();
  for (size_t i = 0; i < kExtensions.size(); ++i) {
    const bool has = (processor_extensions() >> i & 1) != 0;
    EXPECT_EQ(target.cpu().has(kExtensions[i].name),
              has && kExtensions[i].vector_bytes <= target.cpu().vector_bytes);
  }
  __builtin_cpu_init();
  EXPECT_EQ((processor_extensions() & 2) != 0, __builtin_cpu_supports("avx512vnni") != 0);
}

}  // namespace
}  // namespace lathe
