#include "cost/none.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(NoCostModel, IsNeverFittedAndPredictsNothing) {
  const auto model = make_no_cost_model();
  const FeatureMatrix rows{.rows = 2, .columns = 1, .values = {1, 2}};
  EXPECT_FALSE(model->fitted());
  EXPECT_TRUE(model->fit(rows, std::vector<double>{1, 2}, std::vector<int>{0, 0}));
  EXPECT_FALSE(model->fitted());
  const auto prediction = model->predict(rows);
  ASSERT_FALSE(prediction);
  EXPECT_EQ(prediction.error().message, "the cost model 'none' does not predict");
}

}  // namespace
}  // namespace lathe
