#include "cost/gbt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "base/rng.h"
#include "cost/all.h"

namespace lathe {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

struct Data {
  FeatureMatrix rows;
  std::vector<double> seconds;
  std::vector<int> groups;
};

// Two tasks whose seconds differ by a factor of 1000 and follow the first two of eight features.
Data make_data(int count, uint64_t seed) {
  Rng rng(seed);
  Data data;
  data.rows = {count, 8, {}};
  for (int i = 0; i < count; ++i) {
    std::vector<float> row;
    for (int column = 0; column < 8; ++column) row.push_back(static_cast<float>(rng.uniform()));
    data.rows.values.insert(data.rows.values.end(), row.begin(), row.end());
    data.groups.push_back(i % 2);
    data.seconds.push_back((1 + row[0] + 2 * std::abs(row[1] - 0.5)) * (i % 2 ? 1e-3 : 1.0));
  }
  return data;
}

// The share of one task's pairs that the predictions order rightly.
double pair_accuracy(const Data& data, const std::vector<double>& costs) {
  int right = 0;
  int pairs = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (data.groups[i] != data.groups[j]) continue;
      ++pairs;
      right += (data.seconds[i] < data.seconds[j]) == (costs[i] < costs[j]);
    }
  }
  return static_cast<double>(right) / pairs;
}

class GbtModels : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<CostModel> model = *make_cost_model(GetParam());
};

TEST_P(GbtModels, OrdersUnseenRowsOfSeveralTasks) {
  const Data train = make_data(200, 1);
  ASSERT_TRUE(model->fit(train.rows, train.seconds, train.groups).has_value());
  EXPECT_TRUE(model->fitted());
  const Data test = make_data(200, 2);
  const Prediction prediction = *model->predict(test.rows);
  ASSERT_EQ(prediction.mean.size(), 200u);
  ASSERT_EQ(prediction.stddev.size(), 200u);
  EXPECT_GT(pair_accuracy(test, prediction.mean), 0.85);
}

TEST_P(GbtModels, IsDeterministic) {
  const Data train = make_data(100, 1);
  ASSERT_TRUE(model->fit(train.rows, train.seconds, train.groups).has_value());
  auto other = *make_cost_model(GetParam());
  ASSERT_TRUE(other->fit(train.rows, train.seconds, train.groups).has_value());
  EXPECT_EQ(model->predict(train.rows)->mean, other->predict(train.rows)->mean);
}

TEST_P(GbtModels, LearnsWhichCandidatesFail) {
  Data train = make_data(200, 1);
  for (int i = 0; i < 200; ++i) {
    if (train.rows.values[i * 8 + 5] > 0.6f) train.seconds[i] = kFailed;
  }
  ASSERT_TRUE(model->fit(train.rows, train.seconds, train.groups).has_value());
  const Data test = make_data(200, 2);
  const std::vector<double> costs = model->predict(test.rows)->mean;
  double failing = 0, working = 0;
  int failures = 0;
  for (int i = 0; i < 200; ++i) {
    const bool fails = test.rows.values[i * 8 + 5] > 0.6f;
    failures += fails;
    (fails ? failing : working) += costs[i];
  }
  EXPECT_GT(failing / failures, working / (200 - failures));
}

TEST_P(GbtModels, NothingToLearnIsNoError) {
  const Data train = make_data(4, 1);
  EXPECT_TRUE(model->fit({0, 8, {}}, {}, {}).has_value());
  EXPECT_FALSE(model->fitted());
  EXPECT_TRUE(model->fit(train.rows, std::vector(4, kFailed), train.groups).has_value());
  EXPECT_FALSE(model->fitted());
}

TEST_P(GbtModels, StartsNoThreads) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  const auto before = threads();
  const Data train = make_data(200, 1);
  ASSERT_TRUE(model->fit(train.rows, train.seconds, train.groups).has_value());
  ASSERT_TRUE(model->predict(train.rows).has_value());
  EXPECT_EQ(threads(), before);
}

TEST_P(GbtModels, MissingFeaturesAreTaken) {
  Data train = make_data(100, 1);
  for (int i = 0; i < 100; i += 3) train.rows.values[i * 8 + 7] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(model->fit(train.rows, train.seconds, train.groups).has_value());
  const std::vector<double> costs = model->predict(train.rows)->mean;
  for (double cost : costs) EXPECT_TRUE(std::isfinite(cost));
}

TEST_P(GbtModels, NoRowsGiveNoPredictions) {
  const Data train = make_data(50, 1);
  ASSERT_TRUE(model->fit(train.rows, train.seconds, train.groups).has_value());
  EXPECT_TRUE(model->predict({0, 8, {}})->mean.empty());
}

TEST_P(GbtModels, MisuseIsAnError) {
  EXPECT_EQ(model->predict({1, 1, {0.0f}}).error().message,
            "the cost model predicts only after it was fitted");
  const Data train = make_data(50, 1);
  ASSERT_TRUE(model->fit(train.rows, train.seconds, train.groups).has_value());
  EXPECT_EQ(model->predict({1, 1, {0.0f}}).error().message,
            "the cost model was fitted on 8 features a row, not 1");
}

INSTANTIATE_TEST_SUITE_P(Both, GbtModels, ::testing::Values("gbt", "gbt-regression"), [](const auto& name) {
  return std::string(name.param) == "gbt" ? "rank" : "regression";
});

}  // namespace
}  // namespace lathe
