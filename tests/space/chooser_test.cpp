// One function that asks, run to declare and run to replay.
#include "space/chooser.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

// Three decisions; what they came to.
std::vector<int64_t> ask(Chooser& chooser, int64_t tile = 8) {
  const int64_t rows = chooser.choose("rows", {1, 4, 8, 16}, tile);
  const int64_t order = chooser.choose_kind("order", 3, 2);
  const int64_t part = chooser.choose("part", {5}, 100);
  return {rows, order, part};
}

// Declaring answers what is preferred, and keeps what was open.
TEST(Chooser, Declares) {
  Chooser chooser;
  EXPECT_EQ(ask(chooser), (std::vector<int64_t>{8, 2, 5}));
  EXPECT_EQ(chooser.preferred(), (std::vector<int64_t>{2, 2, 0}));
  const std::vector<Parameter>& parameters = chooser.domain().parameters;
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].name, "rows");
  EXPECT_EQ(std::get<OrderedParameter>(parameters[0].kind).values, (std::vector<int64_t>{1, 4, 8, 16}));
  EXPECT_EQ(parameters[1].name, "order");
  EXPECT_EQ(std::get<CategoricalParameter>(parameters[1].kind).count, 3);
  EXPECT_EQ(chooser.domain().size(), 12);
}

// Of values the nearest below the preferred one counts; below all of them it is the first.
TEST(Chooser, PrefersTheNearestBelow) {
  for (const auto& [wish, value] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 1}, {1, 1}, {3, 1}, {4, 4}, {7, 4}, {15, 8}, {16, 16}, {1000, 16}}) {
    Chooser chooser;
    EXPECT_EQ(ask(chooser, wish)[0], value) << wish;
  }
}

// Replaying answers by index, whatever is preferred then, and declares nothing.
TEST(Chooser, Replays) {
  const std::vector<int64_t> integers = {3, 0, 0};
  Chooser chooser(integers);
  EXPECT_EQ(ask(chooser, 1), (std::vector<int64_t>{16, 0, 5}));
  EXPECT_TRUE(chooser.domain().parameters.empty());
  EXPECT_TRUE(chooser.preferred().empty());
}

// The preferred point replays to what declaring gave.
TEST(Chooser, ThePreferredPointIsTheModelsChoice) {
  Chooser declaring;
  const std::vector<int64_t> answers = ask(declaring);
  Chooser replaying(declaring.preferred());
  EXPECT_EQ(ask(replaying), answers);
  EXPECT_TRUE(check(declaring.domain(), declaring.preferred()).has_value());
}

TEST(Chooser, Alternatives) {
  EXPECT_EQ(Chooser().alternative(), 0);
  EXPECT_EQ(Chooser(2).alternative(), 2);
}

}  // namespace
}  // namespace lathe
