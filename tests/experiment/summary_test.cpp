#include "experiment/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lathe {
namespace {

// Five trials; random search is expected to go from 5 to 3 s, and 2 s is the optimum.
TableCurves table() {
  return {.table = "t",
          .optimum = 2,
          .random = {5, 4.5, 4, 3.5, 3},
          .runs = {{"fast", {{4, 3, 2, 2, 2}, {4, 3, 3, 2, 2}, {5, 3, 2, 2, 2}}},
                   {"slow", {{5, 5, 5, 5, 4}, {5, 5, 5, 5, 4}, {5, 5, 5, 4, 4}}}}};
}

ExperimentBar bar(Quantity quantity, const std::string& run, const std::string& than = "") {
  return {.claim = "c", .quantity = quantity, .run = run, .than = than, .at_most = 1.0};
}

double value(const ExperimentBar& bar) { return outcome_of(bar, {table()}).value; }

TEST(Summary, ABandHoldsTheMiddleHalfOfTheSeeds) {
  const Band band = band_of({{1, 9}, {2, 8}, {3, 7}, {4, 6}, {5, 5}});
  EXPECT_EQ(band.low, (std::vector<double>{2, 6}));
  EXPECT_EQ(band.median, (std::vector<double>{3, 7}));
  EXPECT_EQ(band.high, (std::vector<double>{4, 8}));
  EXPECT_EQ(band_of({{1}, {4}}).median, std::vector<double>{2.5});
}

TEST(Summary, ScoresAndQualitiesAreMediansOfTheSeeds) {
  // (1/3 + 1.5/2.5 + 1 + 1 + 1) / 5 of the first seed, the second has .5 in the third trial, the last 0 in
  // the first.
  EXPECT_NEAR(score_of(table(), "fast").median, (0.0 + 0.6 + 1 + 1 + 1) / 5, 1e-12);
  EXPECT_EQ(final_quality_of(table(), "fast").median, 1);
  EXPECT_EQ(final_quality_of(table(), "slow").median, 0.5);
  EXPECT_EQ(trials_until(table(), "fast", 2), 3);
  EXPECT_EQ(trials_until(table(), "slow", 3), std::nullopt);
}

TEST(Summary, BarsCompareRunsWithNumbersAndWithEachOther) {
  EXPECT_NEAR(value(bar(Quantity::score, "fast")), 0.72, 1e-12);
  EXPECT_EQ(value(bar(Quantity::score, "fast", "random")), value(bar(Quantity::score, "fast")));
  EXPECT_GT(value(bar(Quantity::score, "fast", "slow")), value(bar(Quantity::score, "fast")));
  EXPECT_EQ(value(bar(Quantity::final_quality, "slow")), 0.5);
  EXPECT_EQ(value(bar(Quantity::final_quality, "slow", "fast")), 0.5);
  EXPECT_EQ(value(bar(Quantity::final_quality, "fast", "random")), 1.5);
  EXPECT_EQ(value(bar(Quantity::trials_to_quality, "fast")), 0.6) << "2 s are 95 % of the optimum's speed";
  EXPECT_EQ(value(bar(Quantity::trials_to_quality, "fast", "random")), 0.4) << "3 s after 2 of 5";
  EXPECT_EQ(value(bar(Quantity::trials_to_quality, "fast", "slow")), 0.2) << "4 s after 1, after 5";
  EXPECT_EQ(value(bar(Quantity::trials_to_quality, "slow")), std::numeric_limits<double>::infinity());
}

TEST(Summary, AQualityMayBeThatAfterSomeTrials) {
  ExperimentBar early = bar(Quantity::final_quality, "fast");
  early.after = 1;
  EXPECT_EQ(value(early), 0.5) << "4 s, and 2 are the optimum";
  early.after = 99;
  EXPECT_EQ(value(early), 1) << "there are no more than five";
  early.after = 2;
  early.than = "slow";
  EXPECT_EQ(value(early), 5.0 / 3);
  early.than = "random";
  EXPECT_EQ(value(early), 1.5);
}

TEST(Summary, TablesComeToTheirMedianTheirMeanOrTheLeast) {
  TableCurves other = table();
  other.runs[0].best = {{8, 8, 8, 8, 8}};
  TableCurves third = table();
  third.runs[0].best = {{4, 4, 4, 4, 4}};
  ExperimentBar end = bar(Quantity::final_quality, "fast");
  const auto across = [&](Across way) {
    end.across = way;
    return outcome_of(end, {table(), other, third}).value;
  };
  EXPECT_EQ(across(Across::median), 0.5);
  EXPECT_EQ(across(Across::least), 0.25);
  EXPECT_NEAR(across(Across::mean), 0.5, 1e-12) << "the third root of 1 times 1/4 times 1/2";
  other.runs[0].best = {{2, 2, 2, 2, 2}};
  EXPECT_NEAR(across(Across::mean), std::cbrt(0.5), 1e-12);
}

TEST(Summary, ABarIsMetByTheMedianOfTheTables) {
  TableCurves other = table();
  other.runs[0].best = other.runs[1].best;
  ExperimentBar half = bar(Quantity::final_quality, "fast");
  half.at_most = {};
  half.at_least = 0.75;
  const BarOutcome met = outcome_of(half, {table(), other});
  EXPECT_EQ(met.values, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(met.value, 0.75);
  EXPECT_TRUE(met.is_met);
  half.at_least = 0.76;
  EXPECT_FALSE(outcome_of(half, {table(), other}).is_met);
}

TEST(Summary, SecondsAreThoseChargedUntilEachSeedHasTheQuality) {
  TableCurves live = table();
  live.runs[0].charged = {{1, 2, 3, 4, 5}, {2, 4, 6, 8, 10}, {3, 6, 9, 12, 15}};
  live.runs[1].charged = {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}};
  EXPECT_EQ(seconds_until(live, "fast", 2), 8) << "after 3, 8 and 9 seconds";
  EXPECT_EQ(seconds_until(live, "slow", 2), std::numeric_limits<double>::infinity());
  const ExperimentBar half = bar(Quantity::seconds_to_quality, "fast", "slow");
  EXPECT_EQ(outcome_of(half, {live}).value, 2.0 / 5) << "4 s of each, which the slow has after 5";
}

}  // namespace
}  // namespace lathe
