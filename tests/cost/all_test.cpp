#include "cost/all.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(CostTable, MakesEveryNamedModelUnfitted) {
  for (const std::string& name : cost_model_names()) {
    auto model = make_cost_model(name);
    if (name == "transfer" || name == "saved") {
      ASSERT_FALSE(model.has_value());
      EXPECT_EQ(model.error().message, "no file of a cost model is named: set model=FILE");
      continue;
    }
    ASSERT_TRUE(model.has_value()) << name;
    EXPECT_FALSE((*model)->fitted()) << name;
  }
}

TEST(CostTable, AnUnknownNameIsAnErrorThatListsTheLegalOnes) {
  EXPECT_EQ(make_cost_model("oracle").error().message,
            "there is no cost model 'oracle'; legal names are gbt, gbt-regression, ensemble, "
            "tree-gru, tree-gru-context, transfer, saved, none");
}

TEST(CostTable, NoneLearnsNothing) {
  auto model = *make_cost_model("none");
  EXPECT_TRUE(model->fit(CostSamples{}).has_value());
  EXPECT_FALSE(model->fitted());
  EXPECT_EQ(model->predict({}).error().message, "the cost model 'none' does not predict");
}

TEST(CostTable, WhatANameLetsOneSetIsSetByTheText) {
  EXPECT_EQ((*make_cost_model("gbt:features=relation"))->wants(), FeatureKind::relation);
  EXPECT_EQ((*make_cost_model("ensemble:features=context,size=3"))->wants(), FeatureKind::context);
  EXPECT_EQ(make_cost_model("gbt:objective=luck").error().message,
            "objective is 'luck', but must be one of rank, regression, pack-sum");
  EXPECT_EQ(make_cost_model("none:size=3").error().message, "'none' has nothing to set, so no 'size'");
}

}  // namespace
}  // namespace lathe
