#include "cost/none.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(NoCostModel, IsNeverFittedAndPredictsNothing) {
  const auto model = make_no_cost_model();
  CostSamples samples;
  samples.features.add_row(std::vector{1.0F});
  samples.seconds = {1};
  samples.tasks = {0};
  EXPECT_FALSE(model->fitted());
  EXPECT_TRUE(model->fit(samples));
  EXPECT_FALSE(model->fitted());
  const auto prediction = model->predict(samples.features);
  ASSERT_FALSE(prediction);
  EXPECT_EQ(prediction.error().message, "the cost model 'none' does not predict");
}

}  // namespace
}  // namespace lathe
