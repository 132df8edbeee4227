#include "cost/saved_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/all.h"
#include "cost/gbt.h"
#include "cost/tree_gru.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

std::string fault(const std::string& bytes) {
  const auto saved = parse_saved_model(bytes, "m");
  return saved ? "" : saved.error().to_string();
}

// Rows of one number, whose cost grows with it.
CostSamples flat_samples() {
  CostSamples samples;
  for (int i = 0; i < 60; ++i) {
    samples.features.add_row({static_cast<float>(i % 13), static_cast<float>(i)});
    samples.seconds.push_back(1e-3 * (1 + i % 13));
    samples.tasks.push_back(0);
  }
  return samples;
}

// Two loops each, of eighteen numbers.
CostSamples tree_samples() {
  CostSamples samples;
  for (int i = 0; i < 40; ++i) {
    FeatureRows rows{.numbers = std::vector<float>(36, 0.5F), .count = 2, .parents = {-1, 0}};
    rows.numbers[0] = static_cast<float>(i % 7);
    samples.features.add(rows);
    samples.seconds.push_back(1e-3 * (1 + i % 7));
    samples.tasks.push_back(0);
  }
  return samples;
}

void expect_kept(CostModel& model, const CostSamples& samples) {
  EXPECT_FALSE(model.save()) << "nothing is fitted yet";
  ASSERT_TRUE(model.fit(samples));
  const std::string bytes = model.save().value();
  const auto loaded = load_cost_model(bytes, "m");
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_TRUE((*loaded)->fitted());
  EXPECT_EQ((*loaded)->wants(), model.wants());
  EXPECT_EQ((*loaded)->predict(samples.features)->mean, model.predict(samples.features)->mean);
  EXPECT_EQ((*loaded)->save().value(), bytes);
  const auto cut = load_cost_model(bytes.substr(0, bytes.size() - 1), "m");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().to_string(), HasSubstr("bytes behind the header"));
}

TEST(SavedModel, TreesPredictTheSameOnceTheyAreRead) {
  expect_kept(*make_gbt({.objective = "regression", .rounds = 7}), flat_samples());
}

TEST(SavedModel, ANetworkPredictsTheSameOnceItIsRead) {
  expect_kept(*make_tree_gru_context({.states = 8, .slots = 2, .epochs = 2}), tree_samples());
}

TEST(SavedModel, WhatCannotBeKeptOrReadIsASentence) {
  const auto model = make_cost_model("none").value();
  EXPECT_THAT(model->save().error().message, HasSubstr("cannot be kept"));
  EXPECT_EQ(fault(""), "m: this is no cost model");
  EXPECT_EQ(fault("{}\n"), "m: this is no cost model");
  EXPECT_THAT(fault("{\"lathe_model\":2}\n"), HasSubstr("its version is not 1"));
  EXPECT_THAT(fault(R"({"lathe_model":1,"model":"gbt","features":"summary","columns":2})"
                    "\n"),
              HasSubstr("no number 'bytes'"));
  const std::string unknown =
      R"({"lathe_model":1,"model":"magic","features":"summary","columns":2,"bytes":0})"
      "\n";
  EXPECT_THAT(load_cost_model(unknown, "m").error().to_string(),
              HasSubstr("there is no cost model 'magic' that can be kept"));
}

}  // namespace
}  // namespace lathe
