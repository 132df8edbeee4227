#include "session/commands/race_in_place.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>

#include "session/commands/write_model.h"
#include "session/network_file.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using Tasks = std::set<size_t>;

// Three launches of two tasks; the first and the last are of task 0.
constexpr std::array<size_t, 3> kTaskOf = {0, 1, 0};

TEST(FasterIn, TheSumOverATasksLaunchesCounts) {
  const LaunchRounds first = {{1e-3, 5e-3, 1e-3}};
  EXPECT_EQ(faster_in({{2e-3, 4e-3, 3e-4}}, first, kTaskOf, {0, 1}), Tasks{1}) << "task 0 takes 2.3 ms now";
  EXPECT_EQ(faster_in({{1.2e-3, 4e-3, 3e-4}}, first, kTaskOf, {0, 1}), (Tasks{0, 1}));
  EXPECT_EQ(faster_in({{1.2e-3, 4e-3, 3e-4}}, first, kTaskOf, {0}), Tasks{0})
      << "nobody asked about the other";
}

TEST(FasterIn, WhatIsNotClearlyFasterStays) {
  const LaunchRounds first = {{1e-3, 1e-7, 0}};
  EXPECT_EQ(faster_in({{0.99e-3, 0.6e-7, 0}}, first, kTaskOf, {0, 1}), Tasks{})
      << "1 % of one, 40 ns of the other";
}

// One round in which the machine does something else decides nothing.
TEST(FasterIn, ARoundsMedianIsTaken) {
  const LaunchRounds first = {{1e-3, 1e-3, 0}, {9e-3, 1e-3, 0}, {1e-3, 1e-3, 0}};
  const LaunchRounds other = {{1e-3, 0.5e-3, 0}, {1e-3, 0.5e-3, 0}, {1e-3, 8e-3, 0}};
  EXPECT_EQ(faster_in(other, first, kTaskOf, {0, 1}), Tasks{1});
}

// 4 % less in the median, but only as often as not.
TEST(FasterIn, WhatLosesEverySecondRoundStays) {
  const LaunchRounds first = {{1e-3, 0, 0}, {1e-3, 0, 0}, {1e-3, 0, 0}, {1e-3, 0, 0}};
  const LaunchRounds other = {{0.9e-3, 0, 0}, {1.01e-3, 0, 0}, {0.91e-3, 0, 0}, {1.01e-3, 0, 0}};
  EXPECT_EQ(faster_in(other, first, kTaskOf, {0}), Tasks{});
  EXPECT_EQ(faster_in({other[0], other[1], other[2], other[2]}, first, kTaskOf, {0}), Tasks{0});
}

class RaceInPlace : public SessionTest {
 protected:
  std::string written(const OnnxModel& model, const std::string& name) {
    CompileModelOptions options{.target = target_};
    Result<Model> compiled = compile_network(network_in(folder_, model, target_), options);
    EXPECT_TRUE(compiled) << refusal_of(compiled);
    const Status done = write_untimed(std::move(*compiled), path(name));
    EXPECT_TRUE(done) << refusal_of(done);
    return path(name);
  }
};

TEST_F(RaceInPlace, EveryLaunchIsTimedInEveryRound) {
  const std::string one = written(small_conv_model(), "one");
  const std::string two = written(small_conv_model(), "two");
  Result<InPlaceRace> open = InPlaceRace::open(one, two, 1);
  ASSERT_TRUE(open) << refusal_of(open);
  // What is open needs its files no more.
  std::filesystem::remove_all(two);
  const Result<InPlace> race = open->run();
  ASSERT_TRUE(race) << refusal_of(race);
  ASSERT_EQ(race->first.size(), race->other.size());
  EXPECT_GE(race->first.size(), 5U);
  for (const auto* rounds : {&race->first, &race->other}) {
    for (const std::vector<double>& round : *rounds) {
      ASSERT_EQ(round.size(), 1U);
      EXPECT_GT(round[0], 0);
    }
  }
}

TEST_F(RaceInPlace, OneThatCannotBeOpenedIsNamed) {
  const std::string one = written(small_conv_model(), "one");
  const Result<InPlaceRace> race = InPlaceRace::open(one, path("none"), 1);
  ASSERT_FALSE(race);
  EXPECT_NE(refusal_of(race).find(path("none")), std::string::npos) << refusal_of(race);
}

}  // namespace
}  // namespace lathe
