#include "cost/all.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(CostTable, MakesEveryNamedModelUnfitted) {
  for (const std::string& name : cost_model_names()) {
    auto model = make_cost_model(name);
    ASSERT_TRUE(model.has_value()) << name;
    EXPECT_FALSE((*model)->fitted()) << name;
  }
}

TEST(CostTable, AnUnknownNameIsAnErrorThatListsTheLegalOnes) {
  EXPECT_EQ(make_cost_model("oracle").error().message,
            "there is no cost model 'oracle'; legal names are gbt, gbt-regression, none");
}

TEST(CostTable, NoneLearnsNothing) {
  auto model = *make_cost_model("none");
  const std::vector<double> seconds{1, 2};
  const std::vector<int> groups{0, 0};
  EXPECT_TRUE(model->fit({2, 1, {0, 1}}, seconds, groups).has_value());
  EXPECT_FALSE(model->fitted());
  EXPECT_EQ(model->predict({1, 1, {0}}).error().message, "the cost model 'none' does not predict");
}

}  // namespace
}  // namespace lathe
