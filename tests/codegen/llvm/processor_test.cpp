#include "codegen/llvm/processor.h"

#include <gtest/gtest.h>

#include "target/all.h"

namespace lathe::testing {
namespace {

using llvm_backend::find_processor;
using llvm_backend::Processor;

TEST(LlvmProcessor, EveryProcessorOfTheTableOfTargetsIsKnown) {
  for (const TargetRow& row : all_targets()) {
    const Processor* processor = find_processor(row.name);
    const bool is_cpu = std::holds_alternative<CpuTarget>(row.generic().kind);
    ASSERT_EQ(processor != nullptr, is_cpu) << row.name;
    if (is_cpu) {
      EXPECT_EQ(processor->target, row.name);
    }
  }
}

TEST(LlvmProcessor, OtherNamesAreNone) {
  EXPECT_EQ(find_processor(""), nullptr);
  EXPECT_EQ(find_processor("x86"), nullptr);
  EXPECT_EQ(find_processor("x86-avx2 "), nullptr);
}

// An extension that a target may have is one that LLVM is told of, by the name that targets use.
TEST(LlvmProcessor, ExtensionsAreThoseOfTheTargets) {
  for (const TargetRow& row : all_targets()) {
    const Processor* processor = find_processor(row.name);
    if (processor == nullptr) continue;
    for (const auto& feature : processor->extensions) {
      const auto same = [&](const Extension& known) { return known.name == feature.extension; };
      EXPECT_TRUE(std::ranges::any_of(kExtensions, same)) << feature.extension;
      EXPECT_EQ(feature.feature[0], '+');
    }
  }
}

}  // namespace
}  // namespace lathe::testing
