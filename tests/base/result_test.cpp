#include "base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "base/check.h"

namespace lathe {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorKind::invalid_argument, "the value must be even", "half");
  return value / 2;
}

Result<int> quarter(int value) {
  LATHE_TRY(const int once, half(value));
  LATHE_TRY(const int twice, half(once));
  return twice;
}

Status must_be_even(int value, bool& went_on) {
  LATHE_TRY_STATUS(half(value));
  went_on = true;
  return {};
}

TEST(Result, TryUnwrapsAValue) { EXPECT_EQ(quarter(12), 3); }

TEST(Result, TryReturnsTheFirstErrorUnchanged) {
  const Result<int> result = quarter(6);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(result.error().to_string(), "half: the value must be even");
}

TEST(Result, TryTakesValuesThatCanOnlyBeMoved) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  const auto use = [&]() -> Result<int> {
    LATHE_TRY(const std::unique_ptr<int> value, make());
    return *value;
  };
  EXPECT_EQ(use(), 5);
}

TEST(Result, TryStatusStopsAtAnError) {
  bool went_on = false;
  EXPECT_FALSE(must_be_even(3, went_on).has_value());
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(must_be_even(4, went_on).has_value());
  EXPECT_TRUE(went_on);
}

TEST(Result, ErrorPrintsPlaceThenNotes) {
  Error error{ErrorKind::io, "the disk is full", "a.db", {"while committing", "after 3 records"}};
  EXPECT_EQ(error.to_string(), "a.db: the disk is full\n  while committing\n  after 3 records");
  error.where.clear();
  error.notes.clear();
  EXPECT_EQ(error.to_string(), "the disk is full");
}

// Records and messages carry these names, so each kind has one and no two share it.
TEST(Result, EveryErrorKindHasItsOwnName) {
  std::set<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::database); ++kind) {
    names.insert(to_string(static_cast<ErrorKind>(kind)));
  }
  EXPECT_EQ(names.size(), 13u);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_STREQ(to_string(ErrorKind::illegal_schedule), "illegal_schedule");
}

TEST(Check, NamesTheConditionAndThePlace) {
  try {
    LATHE_CHECK(1 + 1 == 3);
    FAIL() << "LATHE_CHECK let a false condition pass";
  } catch (const InternalError& error) {
    EXPECT_THAT(
        std::string(error.what()),
        ::testing::MatchesRegex("internal error: 1 \\+ 1 == 3 does not hold at .*result_test.cpp:[0-9]+"));
  }
  EXPECT_NO_THROW(LATHE_CHECK(1 + 1 == 2));
}

}  // namespace
}  // namespace lathe
