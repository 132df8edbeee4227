#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lathe::testing {
namespace {

std::string error_of(const std::string& text) {
  const auto json = parse_json(text, "file.json");
  return json ? "none" : json.error().to_string();
}

std::string nested(const std::string& open, const std::string& close, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += "1";
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ParseJson, ReadsValues) {
  const auto json = parse_json(R"({"a": [1, 2.5, "x"], "b": null})", "file.json");
  ASSERT_TRUE(json) << json.error().to_string();
  EXPECT_EQ(json->at("a").at(2), "x");
}

TEST(ParseJson, NamesThePlaceOfWhatIsNone) {
  EXPECT_EQ(error_of("[1,\n 2,,]"), "file.json:2:4: this is no valid JSON");
  EXPECT_EQ(error_of(""), "file.json:1:1: this is no valid JSON");
  EXPECT_EQ(error_of("[1e999]"), "file.json: it holds a number that is too large");
}

TEST(ParseJson, NothingEndsTheTextBeforeItsEnd) {
  using namespace std::string_literals;
  EXPECT_EQ(error_of("4\0\"a\", }"s), "file.json:1:2: this is no valid JSON");
}

TEST(ParseJson, AKeyStandsInAnObjectOnce) {
  EXPECT_EQ(error_of("[{\"m\": 3,\n \"k\": 4, \"m\": 5}]"),
            "file.json:2:10: the key \"m\" stands in its object a second time here");
  // However it is spelled, at any depth, whatever strings hold.
  EXPECT_EQ(error_of(R"({"a": {"m": 1, "\u006d" : 2}})"),
            "file.json:1:16: the key \"m\" stands in its object a second time here");
  EXPECT_EQ(error_of(R"({"a": [{"b": 1}, {"b": "\"b\": ]}"}], "b": "a", "c": "a"})"), "none");
}

TEST(ParseJson, TakesSomeLevelsAndNoMore) {
  EXPECT_EQ(error_of(nested("[", "]", kDeepestJson)), "none");
  const std::string too_deep = "lists and objects are nested more than 64 deep here";
  EXPECT_EQ(error_of(nested("[", "]", kDeepestJson + 1)), "file.json:1:65: " + too_deep);
  EXPECT_EQ(error_of(nested(R"({"a":)", "}", 200'000)), "file.json:1:321: " + too_deep);
  // Whether it is closed again or not.
  EXPECT_EQ(error_of(std::string(100'000, '[')), "file.json:1:65: " + too_deep);
}

TEST(ParseJson, BracketsInStringsAreText) {
  EXPECT_EQ(error_of("[\"" + std::string(1000, '[') + R"(\")" + std::string(1000, '{') + "\"]"), "none");
}

}  // namespace
}  // namespace lathe::testing
