#include "cost/from_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "base/write_file.h"
#include "cost/all.h"
#include "cost/gbt.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

// A cost that grows with the first number of a row.
CostSamples growing(int count, double slope) {
  CostSamples samples;
  for (int i = 0; i < count; ++i) {
    samples.features.add_row({static_cast<float>(i), 1.0F});
    samples.seconds.push_back(1 + slope * i);
    samples.tasks.push_back(0);
  }
  return samples;
}

class FromFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto model = make_gbt({.objective = "regression"});
    ASSERT_TRUE(model->fit(growing(64, 1)));
    learned_ = model->predict(growing(64, 1).features)->mean;
    ASSERT_TRUE(write_file(path(), {*model->save()}));
  }
  std::string path() const { return (folder_.path() / "m.model").string(); }

  TemporaryFolder folder_;
  std::vector<double> learned_;
};

TEST_F(FromFileTest, ASavedModelPredictsAndLearnsNothing) {
  const auto model = make_cost_model("saved:model=" + path()).value();
  EXPECT_TRUE(model->fitted());
  ASSERT_TRUE(model->fit(growing(64, -0.01)));
  EXPECT_EQ(model->predict(growing(64, 1).features)->mean, learned_);
}

TEST_F(FromFileTest, ATransferredModelPredictsAtOnceAndLearnsOn) {
  const auto model = make_cost_model("transfer:half-life=8,model=" + path()).value();
  EXPECT_TRUE(model->fitted());
  EXPECT_EQ(model->wants(), FeatureKind::summary);
  EXPECT_EQ(model->predict(growing(64, 1).features)->mean, learned_);
  ASSERT_TRUE(model->fit(growing(64, -0.01)));
  const std::vector<double> now = model->predict(growing(64, 1).features)->mean;
  EXPECT_GT(now.front(), now.back()) << "what was measured here is the other way round";
}

TEST_F(FromFileTest, WhatIsNoModelIsASentence) {
  EXPECT_THAT(make_cost_model("saved:model=" + path() + "2").error().to_string(), HasSubstr("m.model2"));
  ASSERT_TRUE(write_file(path(), {"hello\n"}));
  EXPECT_THAT(make_cost_model("transfer:model=" + path()).error().to_string(), HasSubstr("m.model"));
}

}  // namespace
}  // namespace lathe
