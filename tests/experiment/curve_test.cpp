#include "experiment/curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace lathe {
namespace {

constexpr double kTable[] = {5, 1, 4, 2, 3};

// Of five points every order of drawing, by hand: the mean best of two is (4*1 + 3*2 + 2*3 + 1*4) / 10.
TEST(Curve, RandomSearchOnATableIsExact) {
  const std::vector<double> expected = expected_random(kTable, 5);
  ASSERT_EQ(expected.size(), 5U);
  EXPECT_NEAR(expected[0], 3, 1e-12);
  EXPECT_NEAR(expected[1], 2, 1e-12);
  EXPECT_NEAR(expected[2], 1.5, 1e-12);
  EXPECT_NEAR(expected[3], 1.2, 1e-12);
  EXPECT_NEAR(expected[4], 1, 1e-12);
  std::vector<int> order{0, 1, 2, 3, 4};
  std::vector<double> sums(5, 0);
  double orders = 0;
  do {
    std::vector<double> drawn;
    for (const int i : order) drawn.push_back(kTable[i]);
    const std::vector<double> best = best_so_far(drawn);
    for (size_t t = 0; t < 5; ++t) sums[t] += best[t];
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  for (size_t t = 0; t < 5; ++t) EXPECT_NEAR(expected[t], sums[t] / orders, 1e-12);
}

TEST(Curve, TheScoreIsHowMuchOfWhatRandomLeavesIsGained) {
  const std::vector<double> random = expected_random(kTable, 3);
  EXPECT_NEAR(search_score(random, random, 1), 0, 1e-12);
  EXPECT_NEAR(search_score(std::vector<double>{1, 1, 1}, random, 1), 1, 1e-12);
  // (3 - 5) / 2, (2 - 2) / 1, (1.5 - 1) / 0.5.
  EXPECT_NEAR(search_score(std::vector<double>{5, 2, 1}, random, 1), (-1.0 + 0 + 1) / 3, 1e-12);
  const std::vector<double> whole = expected_random(kTable, 5);
  EXPECT_NEAR(search_score(std::vector<double>{3, 2, 1.5, 1.2, 1}, whole, 1), 0.2, 1e-12);
}

TEST(Curve, TrialsToAShareOfTheOptimum) {
  const std::vector<double> best{5, 2, 1.05, 1};
  EXPECT_EQ(trials_to(best, 1, 0.95), 3);
  EXPECT_EQ(trials_to(best, 1, 1), 4);
  EXPECT_EQ(trials_to(best, 0.5, 0.95), std::nullopt);
}

TEST(Curve, IntervalsNarrowWithMoreRuns) {
  std::vector<double> few(5);
  std::iota(few.begin(), few.end(), 1.0);
  std::vector<double> many;
  for (int i = 0; i < 20; ++i) many.insert(many.end(), few.begin(), few.end());
  const ConfidenceInterval wide = bootstrap_median(few, Rng(1));
  const ConfidenceInterval narrow = bootstrap_median(many, Rng(1));
  EXPECT_EQ(wide.median, 3);
  EXPECT_EQ(narrow.median, 3);
  EXPECT_LE(wide.low, 2);
  EXPECT_GE(wide.high, 4);
  EXPECT_LT(narrow.high - narrow.low, wide.high - wide.low);
  EXPECT_EQ(bootstrap_median(std::vector<double>{7}, Rng(1)).high, 7);
}

TEST(Curve, AMedianLiesInTheMiddle) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_of({7}), 7);
}

TEST(Curve, ATrialOfSeveralPointsIsTheirBest) {
  const std::vector<double> seconds{4, 2, 3, 5, 1};
  EXPECT_EQ(best_of_trials(seconds, 1), seconds);
  EXPECT_EQ(best_of_trials(seconds, 2), (std::vector<double>{2, 3, 1}));
}

}  // namespace
}  // namespace lathe
