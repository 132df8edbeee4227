#include "search/acquisition.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(Acquisition, ExpectedImprovementIsTheNumberOfTheSpecification) {
  EXPECT_NEAR(expected_improvement(1.2, 0.3, 1.0), 0.0453359, 1e-7);
}

TEST(Acquisition, WithoutDeviationTheImprovementIsCertain) {
  EXPECT_EQ(expected_improvement(0.75, 0, 1), 0.25);
  EXPECT_EQ(expected_improvement(1.5, 0, 1), 0);
}

TEST(Acquisition, WhoIsUnsureImprovesMore) {
  EXPECT_GT(expected_improvement(1.2, 0.6, 1.0), expected_improvement(1.2, 0.3, 1.0));
  EXPECT_GT(expected_improvement(1.2, 0.3, 1.0), expected_improvement(1.3, 0.3, 1.0));
}

TEST(Acquisition, CostsAreLowerForWhatIsWorthMore) {
  const Prediction prediction{{1.0, 1.1, 1.1}, {0.0, 0.3, 0.1}};
  EXPECT_EQ(acquisition_costs("mean", prediction, 1.0), prediction.mean);
  const std::vector<double> bounds = acquisition_costs("ucb", prediction, 1.0, 2);
  EXPECT_DOUBLE_EQ(bounds[0], 1.0);
  EXPECT_DOUBLE_EQ(bounds[1], 0.5);
  EXPECT_DOUBLE_EQ(bounds[2], 0.9);
  const std::vector<double> improvements = acquisition_costs("ei", prediction, 1.0);
  EXPECT_EQ(improvements[0], 0);
  EXPECT_LT(improvements[1], improvements[2]);
  EXPECT_LT(improvements[2], 0);
}

}  // namespace
}  // namespace lathe
