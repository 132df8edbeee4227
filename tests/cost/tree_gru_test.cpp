#include "cost/tree_gru.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "cost/pair_accuracy.h"

namespace lathe {
namespace {

TreeGruOptions small(const std::string& objective = "rank") {
  return {.objective = objective, .states = 16, .slots = 4, .rate = 5e-3};
}

// Chains of one to four loops whose costs follow the first number of the innermost and of the outermost one.
CostSamples chains(int count, uint64_t seed) {
  Rng rng(seed);
  CostSamples samples;
  for (int i = 0; i < count; ++i) {
    const int64_t loops = rng.between(1, 4);
    FeatureRows rows{.count = loops};
    for (int64_t loop = 0; loop < loops; ++loop) {
      rows.parents.push_back(static_cast<int>(loop) - 1);
      for (int k = 0; k < 23; ++k) rows.numbers.push_back(static_cast<float>(8 * rng.uniform()));
    }
    samples.seconds.push_back(
        1 + static_cast<double>(rows.numbers[0] + 2 * rows.numbers[23 * static_cast<size_t>(loops - 1)]));
    samples.tasks.push_back(0);
    samples.features.add(rows);
  }
  return samples;
}

TEST(TreeGruModel, OrdersTreesThatItHasNotSeen) {
  for (const char* objective : {"rank", "regression"}) {
    const auto model = make_tree_gru_context(small(objective));
    EXPECT_EQ(model->wants(), FeatureKind::loop_tree);
    for (int round = 0; round < 3; ++round) ASSERT_TRUE(model->fit(chains(300, 1)));
    ASSERT_TRUE(model->fitted());
    const CostSamples unseen = chains(100, 2);
    EXPECT_GT(pair_accuracy(unseen, model->predict(unseen.features)->mean), 0.75) << objective;
  }
}

TEST(TreeGruModel, IsDeterministic) {
  const CostSamples samples = chains(64, 1);
  const auto costs = [&] {
    const auto model = make_tree_gru_context(small());
    EXPECT_TRUE(model->fit(samples));
    return model->predict(samples.features)->mean;
  };
  EXPECT_EQ(costs(), costs());
}

TEST(TreeGruModel, MisuseIsAnErrorAndNothingToLearnIsNone) {
  const auto model = make_tree_gru_context(small());
  const CostSamples samples = chains(8, 1);
  EXPECT_EQ(model->predict(samples.features).error().message,
            "the cost model predicts only after it was fitted");
  EXPECT_TRUE(model->fit({}));
  EXPECT_FALSE(model->fitted());
  ASSERT_TRUE(model->fit(samples));
  FeatureSet other;
  other.add({.numbers = {1}, .parents = {-1}});
  EXPECT_EQ(model->predict(other).error().message, "the cost model was fitted on 23 features a row, not 1");
  EXPECT_TRUE(model->predict({})->mean.empty());
}

// What the margin says already is not learned again.
TEST(TreeGruModel, AMarginIsWhatItsCostsAreAddedTo) {
  const CostSamples samples = chains(200, 1);
  std::vector<double> margin;
  for (const double seconds : samples.seconds) margin.push_back(20 * seconds);
  const auto model = make_tree_gru_context(small());
  ASSERT_TRUE(model->fit(samples, margin));
  std::vector<double> sum = model->predict(samples.features)->mean;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += margin[i];
  EXPECT_GT(pair_accuracy(samples, sum), 0.97);
}

}  // namespace
}  // namespace lathe
