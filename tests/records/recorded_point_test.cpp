#include "records/recorded_point.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

RecordedPoint point_of_each_kind() {
  return {"lathe", "direct C vector=j", {{"C.rows", {12}}, {"loops", {2, 0, 1}}, {"tile", {4, 8}}}};
}

TEST(RecordedPoint, PrintsAndParses) {
  const RecordedPoint point = point_of_each_kind();
  EXPECT_EQ(
      print(point),
      R"({"choices":{"C.rows":12,"loops":[2,0,1],"tile":[4,8]},"sketch":"direct C vector=j","space":"lathe"})");
  EXPECT_EQ(parse_point(print(point)).value(), point);
  const RecordedPoint none{"lathe", "direct", {}};
  EXPECT_EQ(parse_point(print(none)).value(), none);
  EXPECT_TRUE(point.has_choices());
  EXPECT_FALSE(none.has_choices());
}

// A record that is merged from an old file stays as it is.
TEST(RecordedPoint, OfOldFilesHasIntegersByTheirPlaces) {
  const RecordedPoint old = parse_point(R"({"integers":[2,0,1],"sketch":"direct"})").value();
  EXPECT_EQ(old.space, "lathe");
  EXPECT_EQ(old.integers, (std::vector<int64_t>{2, 0, 1}));
  EXPECT_TRUE(old.has_choices());
  EXPECT_EQ(print(old), R"({"integers":[2,0,1],"sketch":"direct"})");
  EXPECT_FALSE(parse_point(R"({"integers":[],"sketch":"direct"})").value().has_choices());
}

TEST(RecordedPoint, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"sketch":"s"})", R"({"sketch":"s","space":"lathe"})",
        R"({"sketch":1,"integers":[]})", R"({"sketch":"s","integers":{}})",
        R"({"sketch":"s","space":"lathe","choices":[]})",
        R"({"sketch":"s","space":"lathe","choices":{"a":"b"}})",
        R"({"sketch":"s","space":"lathe","choices":{"a":1.5}})", R"({"sketch":"s","space":2,"choices":{}})"})
    EXPECT_FALSE(parse_point(text)) << text;
}

TEST(RecordedPoint, LeadsToIntegersOfItsDomain) {
  const Domain domain{{{"order", CategoricalParameter{2}}, {"C.rows", OrderedParameter{{4, 12, 16}}}}};
  const std::vector<int64_t> preferred = {1, 0};
  EXPECT_EQ(integers_in(domain, point_of_each_kind(), preferred), (std::vector<int64_t>{1, 1}));
  RecordedPoint old;
  old.integers = {0, 2};
  EXPECT_EQ(integers_in(domain, old, preferred), old.integers);
  old.integers = {0, 3};
  EXPECT_FALSE(integers_in(domain, old, preferred));
}

}  // namespace
}  // namespace lathe
