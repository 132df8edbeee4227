#include "target/detect.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "target/all.h"

namespace lathe {
namespace {

TEST(Detect, TheNativeTargetIsTheFirstProcessorThatIsThere) {
  const Result<Target> native = detect_target();
  ASSERT_TRUE(native.has_value()) << native.error().to_string();
  for (const TargetRow& row : all_targets()) {
    if (row.name == native->name) break;
    EXPECT_TRUE(!std::holds_alternative<CpuTarget>(row.generic().kind) || !row.detect()) << row.name;
  }
  EXPECT_EQ(native->cpu().cores, static_cast<int>(allowed_cpus().size()));
}

TEST(Detect, CpusAreInOrder) {
  const std::vector<int> cpus = allowed_cpus();
  EXPECT_FALSE(cpus.empty());
  EXPECT_TRUE(std::ranges::is_sorted(cpus));
}

TEST(Detect, MemoryThatIsFreeIsPartOfWhatThereIs) {
  EXPECT_GT(memory_bytes(), 1 << 20);
  EXPECT_GT(free_memory_bytes(), 1 << 20);
  EXPECT_LE(free_memory_bytes(), memory_bytes());
}

}  // namespace
}  // namespace lathe
