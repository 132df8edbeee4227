#include "measure/peak.h"

#include <gtest/gtest.h>

#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

// Figures are not checked against expectations, only for being figures at all: on a core that many share, or
// under a sanitizer, they are as small as can be.
TEST(MeasurePeak, FmaAndReadRatesAreFinite) {
  for (const TargetRow& row : all_targets()) {
    const Target target = row.generic();
    if (!std::holds_alternative<CpuTarget>(target.kind) || !row.detect()) continue;
    EXPECT_GT(measure_fma_gflops(target), 0);
    EXPECT_LT(measure_fma_gflops(target), 2000) << "no core is that fast: was the work removed?";
    const Result<double> rate = measure_read_gigabytes(target, 1 << 20);
    ASSERT_TRUE(rate.has_value());
    EXPECT_GT(*rate, 0);
    EXPECT_LT(*rate, 5000) << "no core is that fast: was the work removed?";
  }
}

TEST(MeasurePeak, NamesWhatDoesNotFitIntoMemory) {
  EXPECT_EQ(measure_read_gigabytes(with_cores(detect_target().value(), 1), int64_t{1} << 60).error().kind,
            ErrorKind::io);
}

}  // namespace
}  // namespace lathe
