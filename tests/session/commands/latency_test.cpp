// How the time of an artifact's runs is taken and told.
#include "session/commands/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "artifact/artifact_fixture.h"
#include "measure/statistics.h"

namespace lathe {
namespace {

// The artifact of the small product, with inputs.
class LatencyTest : public ArtifactTest {
 protected:
  LoadedArtifact opened() {
    write_matmul();
    LoadedArtifact artifact = std::move(LoadedArtifact::open(folder(), 1).value());
    EXPECT_TRUE(artifact.set_input(0, array_of({19, 17}, random_floats(19 * 17, 1)), "A").has_value());
    EXPECT_TRUE(artifact.set_input(1, array_of({17, 21}, random_floats(17 * 21, 2)), "B").has_value());
    return artifact;
  }
};

TEST_F(LatencyTest, IsTheMedianOfAsManySamplesAsWereAskedFor) {
  LoadedArtifact artifact = opened();
  const Result<Latency> latency = measure_latency(artifact, 5);
  ASSERT_TRUE(latency.has_value()) << latency.error().to_string();
  EXPECT_EQ(latency->samples, 5);
  ASSERT_EQ(latency->sampled.size(), 5U);
  std::vector<double> sorted = latency->sampled;
  std::ranges::sort(sorted);
  EXPECT_EQ(latency->seconds, sorted[2]);
  EXPECT_EQ(latency->spread, relative_spread(latency->sampled));
  EXPECT_GT(latency->seconds, 0);
  EXPECT_GE(latency->runs, 1);
  EXPECT_LE(latency->runs, 1000);
}

TEST_F(LatencyTest, SingleRunsAreAsManyAsItWasTakenFrom) {
  LoadedArtifact artifact = opened();
  Latency latency;
  latency.samples = 3;
  latency.runs = 4;
  const Result<std::vector<double>> runs = measure_runs(artifact, latency);
  ASSERT_TRUE(runs.has_value()) << runs.error().to_string();
  EXPECT_EQ(runs->size(), 12U);
  EXPECT_TRUE(std::ranges::all_of(*runs, [](double seconds) { return seconds > 0; }));
  // Of long runs each sample was one already.
  latency.runs = 1;
  latency.sampled = {3e-3, 1e-3, 2e-3};
  EXPECT_EQ(measure_runs(artifact, latency).value(), latency.sampled);
}

TEST_F(LatencyTest, ARunThatFailsIsItsError) {
  const auto workloads = parse_workloads(
      R"([{"name": "g", "op": "expression", "text": "input E[5] input s[2] i32 O[i:2] = E[s[i]]"}])", "test");
  write(compile_operator(workloads->front(), options_));
  LoadedArtifact artifact = std::move(LoadedArtifact::open(folder(), 1).value());
  ASSERT_TRUE(artifact.set_input(0, array_of({5}, {0, 1, 2, 3, 4}), "E").has_value());
  const std::vector<int32_t> outside = {0, 5};
  NpyArray places{DType::i32, {2}, std::vector<std::byte>(8)};
  std::memcpy(places.bytes.data(), outside.data(), 8);
  ASSERT_TRUE(artifact.set_input(1, std::move(places), "s").has_value());
  const Result<Latency> latency = measure_latency(artifact, 3);
  ASSERT_FALSE(latency.has_value());
  EXPECT_EQ(latency.error().message,
            "input 1 ('s') holds 5 as element 1: the model takes values from 0 to 4 there");
  Latency known;
  known.samples = 2;
  known.runs = 2;
  EXPECT_EQ(measure_runs(artifact, known).error().message, latency.error().message);
}

TEST(PercentileOf, IsTheLeastThatSoManyDoNotExceed) {
  std::vector<double> runs(200);
  std::iota(runs.rbegin(), runs.rend(), 1.0);
  EXPECT_EQ(percentile_of(runs, 0.5), 100);
  EXPECT_EQ(percentile_of(runs, 0.9), 180);
  EXPECT_EQ(percentile_of(runs, 0.99), 198);
  EXPECT_EQ(percentile_of(runs, 1), 200);
  EXPECT_EQ(percentile_of({7}, 0.5), 7);
  EXPECT_EQ(percentile_of({1, 2, 3}, 0.99), 3);
}

}  // namespace
}  // namespace lathe
