#include "search/welch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lathe {
namespace {

SampleSummary summary_of(const std::vector<double>& values) {
  SampleSummary summary{.count = static_cast<double>(values.size())};
  for (const double value : values) summary.mean += value / summary.count;
  for (const double value : values)
    summary.variance += (value - summary.mean) * (value - summary.mean) / (summary.count - 1);
  return summary;
}

TEST(Welch, KnownSamplesHaveTheirNumbers) {
  const SampleSummary a =
      summary_of({27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4});
  const SampleSummary b =
      summary_of({27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4});
  const WelchTest test = welch_test(a, b);
  EXPECT_NEAR(test.t, -2.46, 0.005);
  EXPECT_NEAR(test.degrees, 25.0, 0.05);
  EXPECT_NEAR(test.probability, 0.021, 0.0005);
}

TEST(Welch, IncompleteBetaAgreesWithItsClosedForms) {
  for (const double x : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    EXPECT_NEAR(incomplete_beta(1, 1, x), x, 1e-12);
    EXPECT_NEAR(incomplete_beta(3, 1, x), x * x * x, 1e-12);
    EXPECT_NEAR(incomplete_beta(1, 4, x), 1 - std::pow(1 - x, 4), 1e-12);
    EXPECT_NEAR(incomplete_beta(0.5, 0.5, x), 2 / std::acos(-1.0) * std::asin(std::sqrt(x)), 1e-12);
  }
}

TEST(Welch, WithoutVarianceMeansAreEqualOrNot) {
  EXPECT_EQ(welch_test({2, 0, 1}, {2, 0, 1}).probability, 1);
  EXPECT_EQ(welch_test({1, 0, 1}, {2, 0, 1}).probability, 0);
  EXPECT_LT(welch_test({1, 0, 1}, {2, 0, 1}).t, 0);
}

TEST(Welch, MoreValuesMakeSurer) {
  EXPECT_GT(welch_test({1, 0.1, 3}, {1.2, 0.1, 3}).probability,
            welch_test({1, 0.1, 30}, {1.2, 0.1, 30}).probability);
}

}  // namespace
}  // namespace lathe
