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

Domain asked() {
  Chooser declaring;
  ask(declaring);
  return declaring.domain();
}

// Replaying answers by name, whatever is preferred then, and declares nothing.
TEST(Chooser, Replays) {
  const Domain domain = asked();
  const std::vector<int64_t> integers = {3, 0, 0};
  Chooser chooser(domain, integers);
  EXPECT_EQ(ask(chooser, 1), (std::vector<int64_t>{16, 0, 5}));
  EXPECT_TRUE(chooser.domain().parameters.empty());
  EXPECT_TRUE(chooser.preferred().empty());
}

// In another order, with one question left out and one that is new.
TEST(Chooser, FindsAnswersByTheNamesOfTheQuestions) {
  const Domain domain = asked();
  const std::vector<int64_t> integers = {3, 1, 0};
  Chooser chooser(domain, integers);
  EXPECT_EQ(chooser.choose_kind("order", 3, 2), 1);
  EXPECT_EQ(chooser.choose("new", {2, 4}, 4), 4) << "nothing answers it but what is preferred";
  EXPECT_EQ(chooser.choose("rows", {1, 4, 8, 16}, 1), 16);
}

// What was answered may be none of what is asked for now: the nearest value below it, or what is preferred.
TEST(Chooser, AnswersAreFittedToTheQuestion) {
  const Domain domain = asked();
  const std::vector<int64_t> integers = {2, 2, 0};
  Chooser chooser(domain, integers);
  EXPECT_EQ(chooser.choose("rows", {1, 2, 6, 12}, 1), 6);
  EXPECT_EQ(chooser.choose_kind("order", 2, 0), 0);
  EXPECT_EQ(chooser.choose_kind("rows", 4, 3), 3) << "no such question was answered";
}

// The preferred point replays to what declaring gave.
TEST(Chooser, ThePreferredPointIsTheModelsChoice) {
  Chooser declaring;
  const std::vector<int64_t> answers = ask(declaring);
  Chooser replaying(declaring.domain(), declaring.preferred());
  EXPECT_EQ(ask(replaying), answers);
  EXPECT_TRUE(check(declaring.domain(), declaring.preferred()).has_value());
}

TEST(Chooser, SplitsAndOrders) {
  const SplitParameter split{100, 3, true, 32};
  const std::vector<std::string> loops = {"i", "j", "k"};
  const auto ask_both = [&](Chooser& chooser) {
    const std::vector<int64_t> factors = chooser.choose_split("tile", split, {5, 8});
    return std::pair(factors, chooser.choose_order("loops", loops));
  };
  Chooser declaring;
  EXPECT_EQ(ask_both(declaring), std::pair(std::vector<int64_t>({5, 8}), loops));
  EXPECT_EQ(declaring.preferred(), (std::vector<int64_t>{5, 8, 0, 1, 2}));
  EXPECT_TRUE(check(declaring.domain(), declaring.preferred()).has_value());
  const std::vector<int64_t> integers = {3, 16, 2, 0, 1};
  Chooser replaying(declaring.domain(), integers);
  EXPECT_EQ(ask_both(replaying),
            std::pair(std::vector<int64_t>({3, 16}), std::vector<std::string>({"k", "i", "j"})));
  Chooser smaller(declaring.domain(), integers);
  EXPECT_EQ(smaller.choose_split("tile", {100, 3, false, 32}, {1, 1}), (std::vector<int64_t>{1, 1}))
      << "16 does not divide 100";
  EXPECT_EQ(smaller.choose_order("loops", {"i", "j"}), (std::vector<std::string>{"i", "j"}));
}

TEST(Chooser, Alternatives) {
  EXPECT_EQ(Chooser().alternative(), 0);
  EXPECT_EQ(Chooser(2).alternative(), 2);
}

}  // namespace
}  // namespace lathe
