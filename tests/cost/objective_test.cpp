#include "cost/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lathe {
namespace {

// Two tasks, one of which has a failure.
CostSamples samples() {
  CostSamples all;
  all.seconds = {1, 2, 4, 100, std::numeric_limits<double>::infinity()};
  all.tasks = {0, 0, 0, 7, 7};
  for (size_t i = 0; i < all.seconds.size(); ++i) all.features.add_row(std::vector{0.0F});
  return all;
}

std::pair<std::vector<float>, std::vector<float>> derivatives(const std::string& name,
                                                              const std::vector<float>& predictions) {
  const CostSamples all = samples();
  std::vector<float> first(predictions.size(), 0);
  std::vector<float> second(predictions.size(), 0);
  make_objective(name, all)(predictions, first, second);
  return {first, second};
}

TEST(Objective, RelativeCostsAreMinusTheShareOfTheTasksBest) {
  EXPECT_EQ(relative_costs(samples()), (std::vector<float>{-1, -0.5F, -0.25F, -1, 0}));
}

TEST(Objective, RegressionPullsTowardsTheRelativeCost) {
  const auto [first, second] = derivatives("regression", {0, 0, 0, 0, 0});
  EXPECT_EQ(first, (std::vector<float>{1, 0.5F, 0.25F, 1, 0}));
  EXPECT_EQ(second, std::vector<float>(5, 1));
}

// Ansor's loss counts a candidate by its throughput.
TEST(Objective, PackSumHardlyCountsWhatIsSlow) {
  const auto [first, second] = derivatives("pack-sum", {0, 0, 0, 0, 1});
  EXPECT_FLOAT_EQ(first[0], 1);
  EXPECT_FLOAT_EQ(first[1], 0.25F);
  EXPECT_FLOAT_EQ(second[2], 0.25F);
  EXPECT_LT(first[4], 1e-5F);
}

// Ranks are of one task alone: the slowest of one is not compared with the other's best.
TEST(Objective, RanksAreWithinATask) {
  const auto [first, second] = derivatives("rank", {0, 0, 0, 0, 0});
  EXPECT_FLOAT_EQ(first[0], 0.5F);
  EXPECT_FLOAT_EQ(first[1], 0);
  EXPECT_FLOAT_EQ(first[2], -0.5F);
  EXPECT_FLOAT_EQ(first[3], 0.5F);
  EXPECT_FLOAT_EQ(first[4], -0.5F);
}

TEST(Objective, NothingIsLearnedWhereAllOfATaskAreAlike) {
  CostSamples all = samples();
  EXPECT_TRUE(anything_to_learn(all));
  all.tasks = {0, 1, 2, 3, 4};
  EXPECT_FALSE(anything_to_learn(all));
  EXPECT_FALSE(anything_to_learn({}));
}

}  // namespace
}  // namespace lathe
