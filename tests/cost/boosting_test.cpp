#include "cost/boosting.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(Boosting, FitsAStepExactlyWithEnoughRounds) {
  FeatureSet rows;
  for (int i = 0; i < 8; ++i) rows.add_row(std::vector{static_cast<float>(i)});
  const Objective towards_step = [](std::span<const float> predictions, std::span<float> gradient,
                                    std::span<float> hessian) {
    for (size_t i = 0; i < predictions.size(); ++i) {
      gradient[i] = predictions[i] - (i < 4 ? -1.0f : 1.0f);
      hessian[i] = 1.0f;
    }
  };
  const auto trees = train_trees(rows, towards_step, {.rounds = 200, .gamma = 0, .lambda = 0});
  ASSERT_TRUE(trees.has_value());
  const std::vector<float> predictions = trees->predict(rows);
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(predictions[i], i < 4 ? -1.0f : 1.0f, 1e-3);
}

TEST(Boosting, ALibraryErrorIsOneSentence) {
  FeatureSet rows;
  rows.add_row(std::vector{0.0F});
  rows.add_row(std::vector{1.0F});
  const auto trees = train_trees(rows, [](auto, auto, auto) {}, {.depth = -3});
  ASSERT_FALSE(trees.has_value());
  EXPECT_EQ(trees.error().message.find("XGBoost could not "), 0u) << trees.error().message;
  EXPECT_EQ(trees.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace lathe
