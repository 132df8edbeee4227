#include "session/measured_roofline.h"

#include <gtest/gtest.h>

#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

TEST(MeasuredRoofline, ThisMachineHasPeaksAndMoreCoresThanItHasHaveNone) {
  const Result<Target> target = detect_target();
  if (!target) GTEST_SKIP();
  const std::optional<Roofline> roofline = measured_roofline(with_cores(*target, 1));
  ASSERT_TRUE(roofline.has_value());
  EXPECT_GT(roofline->gflops, 0);
  for (const double gigabytes : roofline->gigabytes) EXPECT_GT(gigabytes, 0);
  EXPECT_FALSE(measured_roofline(with_cores(*target, 1 + static_cast<int>(allowed_cpus().size()))));
}

TEST(MeasuredRoofline, ARunIsBoundByUnitsOrByTheLevelThatHoldsItsBytes) {
  Target target = generic_target("x86-avx2");
  target.cpu().cores = 2;
  target.cpu().l2.bytes = 1'000'000;
  target.cpu().l3.bytes = 10'000'000;
  const Roofline roofline = {100, {200, 50, 10}};
  const auto expect = [&](int64_t flops, int64_t bytes, double seconds, Bottleneck limit) {
    const RunBound bound = run_bound(flops, bytes, target, roofline);
    EXPECT_DOUBLE_EQ(bound.seconds, seconds) << bytes;
    EXPECT_EQ(bound.limit, limit) << bytes;
  };
  expect(1'000'000'000, 4'000, 1e-2, Bottleneck::units);
  expect(1'000, 2'000'000, 1e-5, Bottleneck::second_level);
  expect(1'000, 2'000'001, 2'000'001 / 50e9, Bottleneck::third_level);
  expect(1'000, 100'000'000, 1e-2, Bottleneck::memory);
  expect(0, 2'000, 1e-8, Bottleneck::second_level);
}

}  // namespace
}  // namespace lathe
