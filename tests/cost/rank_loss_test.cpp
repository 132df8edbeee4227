#include "cost/rank_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace lathe {
namespace {

struct Derivatives {
  std::vector<float> first, second;
};

Derivatives derivatives(const std::vector<double>& seconds, const std::vector<float>& predictions) {
  Derivatives result{std::vector<float>(seconds.size()), std::vector<float>(seconds.size())};
  add_rank_gradient(seconds, predictions, result.first, result.second);
  return result;
}

TEST(RankLoss, NumbersOfTheSpecification) {
  const std::vector<double> seconds{1, 2, 4};
  const std::vector<double> predictions{0.5, 0.2, 0.9};
  const double unordered = rank_loss(seconds, predictions);
  EXPECT_NEAR(unordered, 1.770557, 1e-6);
  EXPECT_NEAR(2 * unordered, 3.541113, 1e-6);
  EXPECT_NEAR(2 * unordered + 3 * std::log(2.0), 5.620554, 1e-6);
}

TEST(RankLoss, FailuresRankBehindAllAndLevelWithEachOther) {
  const double failed = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(rank_loss(std::vector{1.0, failed}, std::vector{0.0, 20.0}), 0.0, 1e-6);
  EXPECT_NEAR(rank_loss(std::vector{1.0, failed}, std::vector{20.0, 0.0}), 20.0, 1e-6);
  EXPECT_NEAR(rank_loss(std::vector{failed, failed}, std::vector{3.0, 0.0}), std::log(2.0), 1e-12);
}

TEST(RankLoss, GradientIsTheLossesSlope) {
  const std::vector<double> seconds{3, 1, 2, 2, std::numeric_limits<double>::infinity(), 0.5};
  const std::vector<double> at{0.3, -0.1, 0.8, 0.2, 0.1, 1.5};
  const auto [first, second] = derivatives(seconds, std::vector<float>(at.begin(), at.end()));
  const double step = 1e-4;
  const double pairs = static_cast<double>(seconds.size() - 1);
  for (size_t i = 0; i < at.size(); ++i) {
    std::vector<double> up = at;
    std::vector<double> down = at;
    up[i] += step;
    down[i] -= step;
    const double rise = rank_loss(seconds, up);
    const double fall = rank_loss(seconds, down);
    // The pair of equal seconds is constant in formula (2) and has no slope here either.
    EXPECT_NEAR(first[i], (rise - fall) / (2 * step) / pairs, 1e-4) << i;
    EXPECT_NEAR(second[i], (rise - 2 * rank_loss(seconds, at) + fall) / (step * step) / pairs, 1e-3) << i;
  }
}

TEST(RankLoss, GradientSurvivesExtremePredictions) {
  const auto [first, second] = derivatives({1, 2, 3}, {5000.0f, 0.0f, -5000.0f});
  EXPECT_NEAR(first[0], 1.0, 1e-6);
  EXPECT_NEAR(first[2], -1.0, 1e-6);
  for (float value : second) EXPECT_TRUE(std::isfinite(value));
}

TEST(RankLoss, AShareOfThePairsOfALongTaskPointsTheSameWay) {
  Rng rng(1);
  std::vector<double> seconds;
  std::vector<float> predictions(3000, 0.0f);
  for (size_t i = 0; i < predictions.size(); ++i) seconds.push_back(rng.uniform());
  const auto [first, second] = derivatives(seconds, predictions);
  for (size_t i = 0; i < seconds.size(); ++i) {
    // At equal predictions each pair is half wrong: the slope is half the share of slower rows less the
    // faster ones.
    EXPECT_NEAR(first[i], 0.5 * (1 - 2 * seconds[i]), 0.05);
    EXPECT_NEAR(second[i], 0.25, 0.03);
  }
}

// As many rows as the longest run of the papers has: every pair counts.
TEST(RankLoss, TheGradientOf1448RowsIsExact) {
  Rng rng(2);
  std::vector<double> seconds;
  std::vector<float> predictions;
  for (int i = 0; i < 1448; ++i) {
    seconds.push_back(rng.uniform());
    predictions.push_back(static_cast<float>(rng.normal()));
  }
  const auto [first, second] = derivatives(seconds, predictions);
  for (const size_t i : {size_t{0}, size_t{1}, size_t{700}, size_t{1447}}) {
    double slope = 0;
    for (size_t j = 0; j < seconds.size(); ++j) {
      if (i == j) continue;
      const double sign = seconds[i] > seconds[j] ? 1 : -1;
      slope -= sign / (1 + std::exp(sign * static_cast<double>(predictions[i] - predictions[j])));
    }
    EXPECT_NEAR(first[i], slope / 1447, 1e-5) << i;
  }
}

TEST(RankLoss, ASingleRowHasNoGradient) {
  const auto [first, second] = derivatives({1}, {2.0f});
  EXPECT_EQ(first[0], 0.0f);
  EXPECT_EQ(second[0], 0.0f);
}

}  // namespace
}  // namespace lathe
