// What trials came to, by sketch, by value and by failure.
#include "explain/tried.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Record trial_of(int64_t id, const std::string& sketch, double seconds, const Choices& choices = {}) {
  Record record;
  record.id = id;
  record.point = {"lathe", sketch, choices};
  record.measurement = measurement_of({seconds});
  return record;
}

Record failed_trial(int64_t id, const std::string& sketch, ErrorKind kind, const Choices& choices = {}) {
  Record record = trial_of(id, sketch, 1, choices);
  record.measurement = failed_measurement(kind, "so");
  return record;
}

// "tile 3/1 best 7": trials, of which so many failed, and the best record.
std::vector<std::string> in_short(const std::vector<Tried>& list) {
  std::vector<std::string> texts;
  for (const Tried& tried : list) {
    texts.push_back(fmt::format("{} {}/{} best {}", tried.what, tried.trials, tried.failed,
                                tried.best_record ? fmt::format("{}", *tried.best_record) : "none"));
  }
  return texts;
}

TEST(TriedSketches, OfNoRecordsThereAreNone) {
  EXPECT_THAT(tried_sketches({}), IsEmpty());
  EXPECT_THAT(failures({}), IsEmpty());
}

TEST(TriedSketches, OfEqualTimesTheFirstRecordAndTheFirstSketchCount) {
  const std::vector<Record> records = {trial_of(1, "b", 2e-3), trial_of(2, "a", 1e-3), trial_of(3, "c", 1e-3),
                                       trial_of(4, "a", 1e-3)};
  EXPECT_THAT(in_short(tried_sketches(records)), ElementsAre("a 2/0 best 2", "c 1/0 best 3", "b 1/0 best 1"));
}

TEST(TriedSketches, ThoseWithoutAProgramAreLastInTheOrderInWhichTheyCame) {
  const std::vector<Record> records = {
      failed_trial(1, "x", ErrorKind::crash), trial_of(2, "slow", 5), failed_trial(3, "y", ErrorKind::crash),
      failed_trial(4, "slow", ErrorKind::build), failed_trial(5, "x", ErrorKind::timeout)};
  EXPECT_THAT(in_short(tried_sketches(records)),
              ElementsAre("slow 2/1 best 2", "x 2/2 best none", "y 1/1 best none"));
}

TEST(TriedFailures, TheMostFrequentComeFirst) {
  const std::vector<Record> records = {
      failed_trial(1, "a", ErrorKind::timeout), failed_trial(2, "b", ErrorKind::crash), trial_of(3, "a", 1),
      failed_trial(4, "a", ErrorKind::crash), failed_trial(5, "b", ErrorKind::build)};
  EXPECT_THAT(in_short(failures(records)),
              ElementsAre("crash 2/2 best none", "timeout 1/1 best none", "build 1/1 best none"));
}

class TriedValues : public ::testing::Test {
 protected:
  std::vector<ParameterTried> of(const std::vector<Record>& records) const {
    return tried_values(records, "lathe", sketch_);
  }

  const Sketch sketch_ = {.name = "tile",
                          .write = {},
                          .domain = Domain{{{"order", PermutationParameter{{"i", "j"}}},
                                            {"rows", SplitParameter{64, 3, false, 64}},
                                            {"unroll", OrderedParameter{{0, 16, 64}}}}},
                          .preferred = {0, 1, 4, 8, 0}};
};

TEST_F(TriedValues, SeveralIntegersOfAParameterAreOneValue) {
  const std::vector<Record> records = {
      trial_of(1, "tile", 3e-3, {{"order", {0, 1}}, {"rows", {4, 8}}, {"unroll", {16}}}),
      trial_of(2, "tile", 1e-3, {{"order", {1, 0}}, {"rows", {2, 16}}, {"unroll", {16}}}),
      trial_of(3, "tile", 2e-3, {{"order", {1, 0}}, {"rows", {4, 8}}, {"unroll", {16}}})};
  const std::vector<ParameterTried> parameters = of(records);
  // In the order of the domain; what was never varied is left out.
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_EQ(parameters[0].name, "order");
  EXPECT_THAT(in_short(parameters[0].values), ElementsAre("1 x 0 2/0 best 2", "0 x 1 1/0 best 1"));
  EXPECT_EQ(parameters[1].name, "rows");
  EXPECT_THAT(in_short(parameters[1].values), ElementsAre("2 x 16 1/0 best 2", "4 x 8 2/0 best 3"));
}

TEST_F(TriedValues, WhatARecordDoesNotSayIsAsPreferred) {
  const std::vector<Record> records = {trial_of(1, "tile", 2e-3, {{"unroll", {64}}}),
                                       trial_of(2, "tile", 1e-3, {{"rows", {2, 16}}})};
  const std::vector<ParameterTried> parameters = of(records);
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_THAT(in_short(parameters[0].values), ElementsAre("2 x 16 1/0 best 2", "4 x 8 1/0 best 1"));
  EXPECT_THAT(in_short(parameters[1].values), ElementsAre("0 1/0 best 2", "64 1/0 best 1"));
}

TEST_F(TriedValues, ValuesOfFailuresAloneAreLast) {
  const std::vector<Record> records = {failed_trial(1, "tile", ErrorKind::crash, {{"unroll", {64}}}),
                                       trial_of(2, "tile", 9, {{"unroll", {16}}})};
  ASSERT_EQ(of(records).size(), 1U);
  EXPECT_THAT(in_short(of(records)[0].values), ElementsAre("16 1/0 best 2", "64 1/1 best none"));
}

// Of other sketches and spaces, and points that are none of the domain any more.
TEST_F(TriedValues, OtherPointsDoNotCount) {
  std::vector<Record> records = {
      trial_of(1, "tile", 1e-3, {{"unroll", {16}}}), trial_of(2, "other", 1e-3, {{"unroll", {64}}}),
      trial_of(3, "tile", 1e-3, {{"unroll", {64}}}), trial_of(4, "tile", 1e-3, {{"unroll", {7}}})};
  records[2].point.space = "another";
  EXPECT_THAT(of(records), IsEmpty());
}

}  // namespace
}  // namespace lathe
