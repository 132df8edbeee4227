#include "cost/gbt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "base/rng.h"
#include "cost/all.h"
#include "cost/pair_accuracy.h"

namespace lathe {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

// Two tasks whose seconds differ by a factor of 1000 and follow the first two of eight features.
CostSamples make_data(int count, uint64_t seed) {
  Rng rng(seed);
  CostSamples data;
  for (int i = 0; i < count; ++i) {
    std::vector<float> row;
    for (int column = 0; column < 8; ++column) row.push_back(static_cast<float>(rng.uniform()));
    data.features.add_row(row);
    data.tasks.push_back(i % 2);
    data.seconds.push_back((1 + row[0] + 2 * std::abs(row[1] - 0.5)) * (i % 2 ? 1e-3 : 1.0));
  }
  return data;
}

FeatureSet one_number() {
  FeatureSet set;
  set.add_row(std::vector<float>{0});
  return set;
}

class GbtModels : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<CostModel> model = *make_cost_model(GetParam());
};

TEST_P(GbtModels, OrdersUnseenRowsOfSeveralTasks) {
  const CostSamples train = make_data(200, 1);
  ASSERT_TRUE(model->fit(train).has_value());
  EXPECT_TRUE(model->fitted());
  const CostSamples test = make_data(200, 2);
  const Prediction prediction = *model->predict(test.features);
  ASSERT_EQ(prediction.mean.size(), 200u);
  ASSERT_EQ(prediction.stddev.size(), 200u);
  EXPECT_GT(pair_accuracy(test, prediction.mean), 0.85);
}

TEST_P(GbtModels, IsDeterministic) {
  const CostSamples train = make_data(100, 1);
  ASSERT_TRUE(model->fit(train).has_value());
  auto other = *make_cost_model(GetParam());
  ASSERT_TRUE(other->fit(train).has_value());
  EXPECT_EQ(model->predict(train.features)->mean, other->predict(train.features)->mean);
}

TEST_P(GbtModels, LearnsWhichCandidatesFail) {
  CostSamples train = make_data(200, 1);
  for (int i = 0; i < 200; ++i) {
    if (train.features.values[i * 8 + 5] > 0.6f) train.seconds[i] = kFailed;
  }
  ASSERT_TRUE(model->fit(train).has_value());
  const CostSamples test = make_data(200, 2);
  const std::vector<double> costs = model->predict(test.features)->mean;
  double failing = 0, working = 0;
  int failures = 0;
  for (int i = 0; i < 200; ++i) {
    const bool fails = test.features.values[i * 8 + 5] > 0.6f;
    failures += fails;
    (fails ? failing : working) += costs[i];
  }
  EXPECT_GT(failing / failures, working / (200 - failures));
}

TEST_P(GbtModels, NothingToLearnIsNoError) {
  CostSamples train = make_data(4, 1);
  EXPECT_TRUE(model->fit(CostSamples{}).has_value());
  EXPECT_FALSE(model->fitted());
  train.seconds.assign(4, kFailed);
  EXPECT_TRUE(model->fit(train).has_value());
  EXPECT_FALSE(model->fitted());
}

TEST_P(GbtModels, StartsNoThreads) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  const auto before = threads();
  const CostSamples train = make_data(200, 1);
  ASSERT_TRUE(model->fit(train).has_value());
  ASSERT_TRUE(model->predict(train.features).has_value());
  EXPECT_EQ(threads(), before);
}

TEST_P(GbtModels, MissingFeaturesAreTaken) {
  CostSamples train = make_data(100, 1);
  for (int i = 0; i < 100; i += 3) train.features.values[i * 8 + 7] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(model->fit(train).has_value());
  const std::vector<double> costs = model->predict(train.features)->mean;
  for (double cost : costs) EXPECT_TRUE(std::isfinite(cost));
}

TEST_P(GbtModels, NoRowsGiveNoPredictions) {
  const CostSamples train = make_data(50, 1);
  ASSERT_TRUE(model->fit(train).has_value());
  EXPECT_TRUE(model->predict({.columns = 8})->mean.empty());
}

TEST_P(GbtModels, MisuseIsAnError) {
  EXPECT_EQ(model->predict(one_number()).error().message, "the cost model predicts only after it was fitted");
  const CostSamples train = make_data(50, 1);
  ASSERT_TRUE(model->fit(train).has_value());
  EXPECT_EQ(model->predict(one_number()).error().message,
            "the cost model was fitted on 8 features a row, not 1");
}

// What a margin says already is not learned again.
TEST_P(GbtModels, AMarginIsWhatTheTreesAreAddedTo) {
  const CostSamples train = make_data(200, 1);
  ASSERT_TRUE(model->fit(train).has_value());
  const std::vector<double> alone = model->predict(train.features)->mean;
  ASSERT_TRUE(model->fit(train, alone).has_value());
  std::vector<double> added = model->predict(train.features)->mean;
  const auto size_of = [](const std::vector<double>& costs) {
    const auto [least, most] = std::ranges::minmax_element(costs);
    return *most - *least;
  };
  EXPECT_LT(size_of(added), 0.8 * size_of(alone));
  for (size_t i = 0; i < added.size(); ++i) added[i] += alone[i];
  EXPECT_GE(pair_accuracy(train, added), pair_accuracy(train, alone));
}

// Two rows a candidate, whose sum counts.
TEST_P(GbtModels, ACandidateOfSeveralRowsIsTheirSum) {
  Rng rng(1);
  CostSamples samples;
  for (int i = 0; i < 200; ++i) {
    const float first = static_cast<float>(rng.uniform());
    const float second = static_cast<float>(rng.uniform());
    samples.features.add({.numbers = {first, second}, .count = 2});
    samples.seconds.push_back(1 + static_cast<double>(first + second));
    samples.tasks.push_back(0);
  }
  ASSERT_TRUE(model->fit(samples).has_value());
  const std::vector<double> costs = model->predict(samples.features)->mean;
  ASSERT_EQ(costs.size(), 200U);
  EXPECT_GT(pair_accuracy(samples, costs), 0.9);
}

INSTANTIATE_TEST_SUITE_P(All, GbtModels,
                         ::testing::Values("gbt", "gbt-regression", "gbt:objective=pack-sum", "ensemble"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace_if(text, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return text;
                         });

}  // namespace
}  // namespace lathe
