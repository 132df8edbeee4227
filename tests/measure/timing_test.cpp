#include "measure/timing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace lathe {
namespace {

TEST(MeasureTiming, ShortWorkIsRepeatedWithinASample) {
  int64_t calls = 0;
  const TimingOptions options = {.sample_seconds = 1, .min_samples = 2, .max_samples = 2};
  const std::vector<double> samples = take_samples([&] { ++calls; }, 1.0 / 1024, options);
  EXPECT_EQ(samples.size(), 2u);
  EXPECT_EQ(calls, 2 * 1024);
}

TEST(MeasureTiming, TakesMoreSamplesWhileTheySpread) {
  const TimingOptions strict = {.sample_seconds = 0, .min_samples = 3, .max_samples = 6, .target_spread = -1};
  EXPECT_EQ(take_samples([] {}, 1, strict).size(), 6u);
  const TimingOptions easy = {.sample_seconds = 0, .min_samples = 3, .max_samples = 6, .target_spread = 1e9};
  EXPECT_EQ(take_samples([] {}, 1, easy).size(), 3u);
}

TEST(MeasureTiming, LongWorkGetsTheFewestSamples) {
  const TimingOptions options = {.min_samples = 50, .max_samples = 50, .budget_seconds = 1e-3};
  EXPECT_EQ(take_samples([] { usleep(2000); }, 2e-3, options).size(), static_cast<size_t>(kFewestSamples));
}

TEST(MeasureTiming, WarmUpRunsAtLeastTwiceAndEstimatesOneRun) {
  int calls = 0;
  const double seconds = warm_up([&] { ++calls, usleep(1000); }, {.warm_up_seconds = 0});
  EXPECT_EQ(calls, 2);
  EXPECT_GE(seconds, 1e-3);
}

TEST(MeasureTiming, WhatPrecedesRunsLeavesFewerOfThemToASample) {
  int calls = 0;
  const TimingOptions options = {.sample_seconds = 1e-3, .min_samples = 3, .max_samples = 3};
  EXPECT_EQ(take_samples([&] { ++calls; }, 1e-9, options, [] { usleep(2000); }).size(), 3U);
  EXPECT_EQ(calls, 3);
}

TEST(MeasureTiming, WhatPrecedesARunIsNotCounted) {
  int64_t before = 0;
  int64_t calls = 0;
  const auto work = [&] { EXPECT_EQ(before, ++calls); };
  const auto pause = [&] { ++before, usleep(20'000); };
  const TimingOptions options = {.sample_seconds = 1, .min_samples = 3, .max_samples = 3};
  const std::vector<double> samples = take_samples(work, 0.5, options, pause);
  EXPECT_EQ(calls, 3 * 2);
  EXPECT_LT(*std::min_element(samples.begin(), samples.end()), 20e-3);
  EXPECT_LT(warm_up(work, {.warm_up_seconds = 0}, pause), 20e-3);
  EXPECT_EQ(calls, 3 * 2 + 2);
}

}  // namespace
}  // namespace lathe
