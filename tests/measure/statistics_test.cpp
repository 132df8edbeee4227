#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <vector>

#include "measure/measurement.h"

namespace lathe {
namespace {

TEST(MeasureStatistics, MedianOfOddAndEvenNumbers) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
}

TEST(MeasureStatistics, APercentileIsOneOfTheValues) {
  const std::vector<double> values = {5, 1, 4, 2, 3, 10, 6, 9, 7, 8};
  EXPECT_EQ(percentile(values, 0.5), 5);
  EXPECT_EQ(percentile(values, 0.9), 9);
  EXPECT_EQ(percentile(values, 0.91), 10);
  EXPECT_EQ(percentile(values, 0.99), 10);
  EXPECT_EQ(percentile(values, 1), 10);
  EXPECT_EQ(percentile(std::vector<double>{7}, 0.01), 7);
}

TEST(MeasureStatistics, CentreIsTheMedianOfTheFasterHalf) {
  EXPECT_EQ(robust_centre(std::vector<double>{7}), 7);
  EXPECT_EQ(robust_centre(std::vector<double>{5, 1, 4, 2, 3}), 2);
  EXPECT_EQ(robust_centre(std::vector<double>{4, 3, 2, 1}), 1.5);
}

TEST(MeasureStatistics, HalfTheSamplesDisturbedMoveNeitherCentreNorSpread) {
  const std::vector<double> quiet = {100, 101, 100, 102, 101, 100, 101};
  std::vector<double> disturbed = {100, 101, 100, 102, 900, 700, 1500};
  EXPECT_NEAR(robust_centre(disturbed), robust_centre(quiet), 1);
  EXPECT_LT(relative_spread(disturbed), 0.02);
}

TEST(MeasureStatistics, SpreadIsRelative) {
  EXPECT_EQ(relative_spread(std::vector<double>{7}), 0);
  EXPECT_NEAR(relative_spread(std::vector<double>{90, 100, 110, 500, 500}), 0.1, 1e-12);
  EXPECT_NEAR(relative_spread(std::vector<double>{9, 10, 11, 50, 50}), 0.1, 1e-12);
}

TEST(Measurement, FromSamplesAndFromFailures) {
  const Measurement good = measurement_of({3, 1, 2});
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.seconds, 1.5);
  EXPECT_EQ(good.samples, (std::vector<double>{3, 1, 2})) << "in the order taken";
  const Measurement bad = failed_measurement(ErrorKind::timeout, "too long");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.failure->message, "too long");
}

TEST(Measurement, SourcesPrintAndParse) {
  for (MeasureSource source : {MeasureSource::measured, MeasureSource::simulated, MeasureSource::modelled}) {
    EXPECT_EQ(parse_measure_source(to_string(source)), source);
  }
  EXPECT_EQ(parse_measure_source("guessed"), std::nullopt);
}

}  // namespace
}  // namespace lathe
