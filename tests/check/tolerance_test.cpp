// How near results must be: nearer in double, further off for long sums and algorithms that lose digits.
#include "check/tolerance.h"

#include <gtest/gtest.h>

#include <string>

#include "lower/programs.h"

namespace lathe::testing {
namespace {

TEST(LongestSum, CountsTheTermsOfReductionsAndThoseThatAreWrittenOut) {
  EXPECT_EQ(longest_sum(task_of("C[i:4] = A[i] * 2.0").dag), 1);
  EXPECT_EQ(longest_sum(task_of("C[i:4] = sum(r:6, s:7) A[i, r, s]").dag), 42);
  EXPECT_EQ(longest_sum(task_of("C[i:4] = A[i] + A[i] - A[i] + A[i]").dag), 3);
}

TEST(RelativeTolerance, GrowsWithTheReductionAndForWinograd) {
  const Dag shorter = task_of("C[i:4] = sum(r:16) A[i, r]").dag;
  const Dag longer = task_of("C[i:4] = sum(r:4096) A[i, r]").dag;
  EXPECT_LT(relative_tolerance(shorter, {}), relative_tolerance(longer, {}));
  EXPECT_LT(relative_tolerance(longer, {}), 1e-4);
  std::string written_out = "C[i:4] = A[i]";
  for (int r = 1; r < 100; ++r) written_out += " + A[i]";
  EXPECT_LT(relative_tolerance(shorter, {}), relative_tolerance(task_of(written_out).dag, {}));
  EXPECT_LT(relative_tolerance(shorter, {}), relative_tolerance(shorter, {RewriteStep{"winograd", "C", {}}}));
}

TEST(RelativeTolerance, IsTighterWhereAllIsComputedInDouble) {
  const auto of = [](const char* text) { return relative_tolerance(task_of(text).dag, {}); };
  EXPECT_LT(of("input A[8, 9] f64\nC[i:8] = sum(r:9) A[i, r]"), 1e-13);
  EXPECT_GT(of("C[i:8] = f64(A[i] * 3.0)"), 1e-6);
  EXPECT_LT(of("C[i:8] = f64(A[i]) * 3.0"), 1e-13);
}

}  // namespace
}  // namespace lathe::testing
