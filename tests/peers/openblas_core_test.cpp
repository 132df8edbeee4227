#include "peers/openblas_core.h"

#include <gtest/gtest.h>

#include "target/all.h"

namespace lathe {
namespace {

TEST(OpenBlasCore, EveryProcessorHasKernels) {
  for (const TargetRow& row : all_targets()) {
    const bool is_processor = std::holds_alternative<CpuTarget>(row.generic().kind);
    EXPECT_EQ(openblas_core(row.name) != nullptr, is_processor) << row.name;
  }
  EXPECT_STREQ(openblas_core("x86-avx2"), "Haswell");
}

}  // namespace
}  // namespace lathe
