#include "search/all.h"

#include <gtest/gtest.h>

#include <set>

#include "search/landscape.h"

namespace lathe {
namespace {

TEST(SearchTable, MakesEveryNamedStrategyAndScheduler) {
  for (const std::string& name : strategy_names()) {
    auto strategy = make_strategy(name, Landscape::space(), 0);
    ASSERT_TRUE(strategy.has_value()) << name;
    const Proposal proposal = (*strategy)->propose(4, {});
    EXPECT_FALSE(proposal.points.empty() || proposal.exhausted) << name;
    EXPECT_LE(proposal.points.size(), 4U) << name;
  }
  for (const std::string& name : task_scheduler_names()) {
    auto scheduler = make_task_scheduler(name, {{}, {}}, 0);
    ASSERT_TRUE(scheduler.has_value()) << name;
    EXPECT_EQ((*scheduler)->next(), 0) << name;
  }
}

TEST(SearchTable, AnUnknownNameIsAnErrorThatListsTheLegalOnes) {
  EXPECT_EQ(
      make_strategy("alchemy", {}, 0).error().message,
      "there is no strategy 'alchemy'; legal names are evolutionary, random, annealing, genetic, random-x2, "
      "genetic-x2, ansor, bansor, descent, tree-search, flextensor-q, flextensor-p, flextensor-r");
  EXPECT_EQ(
      make_task_scheduler("fair", {}, 0).error().message,
      "there is no task scheduler 'fair'; legal names are gradient-patient, gradient, ucb, round-robin");
}

TEST(SearchTable, WhatANameLetsOneSetIsSetByTheText) {
  EXPECT_TRUE(check_strategy("evolutionary:population=8,diversity=0.5"));
  EXPECT_EQ(check_strategy("evolutionary:size=8").error().message,
            "'evolutionary' has no setting 'size'; it has random-share, descent-share, descent-from, "
            "diversity, population, generations");
  EXPECT_EQ(check_strategy("evolutionary:population=0").error().message,
            "population is '0', but must be a number from 1 to 1000000");
  EXPECT_EQ(check_strategy("random:size=8").error().message, "'random' has nothing to set, so no 'size'");
  EXPECT_EQ(make_task_scheduler("ucb:exploration", {}, 0).error().message,
            "'exploration' in 'ucb:exploration' is not of the form name=value");
}

// Of every strategy: the same seed, the same proposals; legal ones, and none twice.
TEST(SearchTable, EveryStrategyIsDeterministicLegalAndNeverRepeatsItself) {
  SearchSpace space = Landscape::space();
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.integers[0] > 32) return "tile too large";
    return std::nullopt;
  };
  for (const std::string& name : strategy_names()) {
    const auto tried = [&](uint64_t seed) {
      auto strategy = *make_strategy(name, space, seed);
      std::vector<Point> points;
      for (const Trial& trial : run_search(*strategy, 96, perfect())) points.push_back(trial.point);
      return points;
    };
    const std::vector<Point> first = tried(3);
    EXPECT_EQ(first, tried(3)) << name;
    EXPECT_NE(first, tried(4)) << name;
    std::set<Point> distinct(first.begin(), first.end());
    EXPECT_EQ(distinct.size(), first.size()) << name;
    for (const Point& point : first) EXPECT_TRUE(space.legal(point)) << name;
  }
}

// The end of a space is told, and no point of a small one is left out.
TEST(SearchTable, EveryStrategyUsesUpASmallSpace) {
  SearchSpace space;
  space.sketches = {{{{"a", CategoricalParameter{5}}, {"b", OrderedParameter{{1, 2, 4}}}}},
                    {{{"c", SplitParameter{12, 2, false, 12}}}}};
  space.sketch_names = {"x", "y"};
  for (const std::string& name : strategy_names()) {
    auto strategy = *make_strategy(name, space, 1);
    std::set<Point> seen;
    bool exhausted = false;
    for (int round = 0; round < 100 && !exhausted; ++round) {
      Proposal proposal = strategy->propose(7, seen.empty() ? Predictor() : blind());
      std::vector<Trial> trials;
      for (const Point& point : proposal.points) {
        EXPECT_TRUE(seen.insert(point).second) << name;
        trials.push_back({point, 1.0 + 0.01 * static_cast<double>(point.integers[0])});
      }
      strategy->observe(trials);
      exhausted = proposal.exhausted;
    }
    EXPECT_TRUE(exhausted) << name;
    EXPECT_EQ(seen.size(), 15U + 6U) << name;
  }
}

}  // namespace
}  // namespace lathe
