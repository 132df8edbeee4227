// Evolution under a model alone: what it gives, and what it never does.
#include "search/evolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "search/landscape.h"

namespace lathe {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

StrategyOptions small() {
  StrategyOptions options;
  options.population = 64;
  options.generations = 6;
  return options;
}

TEST(Evolve, NaNIsWorthNoTrial) {
  const std::vector<Point> points = {{0, {1}}, {0, {2}}, {0, {3}}};
  const Scorer scorer = [](std::span<const Point>) { return std::vector<double>{2.0, kNan, 1.0}; };
  const std::vector<double> costs = predicted(scorer, points);
  EXPECT_EQ(costs[0], 2.0);
  EXPECT_EQ(costs[1], INFINITY);
  EXPECT_EQ(costs[2], 1.0);
}

TEST(Evolve, OfNothingNothingIsAsked) {
  const Scorer scorer = [](std::span<const Point>) -> std::vector<double> {
    ADD_FAILURE() << "asked";
    return {};
  };
  EXPECT_TRUE(predicted(scorer, {}).empty());
}

TEST(Evolve, AScorerAnswersForEveryPoint) {
  const std::vector<Point> points = {{0, {1}}, {0, {2}}};
  EXPECT_THROW(predicted([](std::span<const Point>) { return std::vector<double>{1.0}; }, points),
               InternalError);
}

TEST(Evolve, GivesDistinctLegalUnusedPointsBestFirst) {
  const SearchSpace space = Landscape::space();
  Sampler sampler(space, Rng(5));
  std::vector<Point> measured;
  for (int i = 0; i < 10; ++i) measured.push_back(*sampler.draw());
  const std::vector<Scored> found = evolve(space, sampler, measured, Landscape::perfect_scores, small(), 20);
  ASSERT_EQ(found.size(), 20U);
  std::set<uint64_t> seen;
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(space.legal(found[i].point));
    EXPECT_FALSE(sampler.used(found[i].point));
    EXPECT_TRUE(seen.insert(hash_of(found[i].point)).second);
    EXPECT_EQ(found[i].cost, Landscape::seconds(found[i].point));
    if (i > 0) {
      EXPECT_GE(found[i].cost, found[i - 1].cost);
    }
  }
}

// Generations bring better points than the first population has.
TEST(Evolve, GenerationsImprove) {
  const SearchSpace space = Landscape::space();
  const auto best_after = [&](int generations) {
    StrategyOptions options = small();
    options.generations = generations;
    Sampler sampler(space, Rng(11));
    return evolve(space, sampler, {}, Landscape::perfect_scores, options, 1).at(0).cost;
  };
  EXPECT_LT(best_after(8), best_after(1));
}

TEST(Evolve, NoPointIsScoredTwice) {
  const SearchSpace space = Landscape::space();
  Sampler sampler(space, Rng(3));
  std::set<uint64_t> scored;
  const Scorer scorer = [&](std::span<const Point> points) {
    for (const Point& point : points) EXPECT_TRUE(scored.insert(hash_of(point)).second);
    return Landscape::perfect_scores(points);
  };
  evolve(space, sampler, {}, scorer, small(), 5);
  EXPECT_GT(scored.size(), 64U);
}

TEST(Evolve, TheSameSeedGivesTheSamePoints) {
  const SearchSpace space = Landscape::space();
  const auto points = [&](uint64_t seed) {
    Sampler sampler(space, Rng(seed));
    std::vector<uint64_t> hashes;
    for (const Scored& scored : evolve(space, sampler, {}, Landscape::perfect_scores, small(), 10))
      hashes.push_back(hash_of(scored.point));
    return hashes;
  };
  EXPECT_EQ(points(7), points(7));
  EXPECT_NE(points(7), points(8));
}

TEST(Evolve, WhereEverythingIsWorthNoTrialNothingIsLeft) {
  const SearchSpace space = Landscape::space();
  Sampler sampler(space, Rng(1));
  const Scorer scorer = [](std::span<const Point> points) {
    return std::vector<double>(points.size(), INFINITY);
  };
  EXPECT_TRUE(evolve(space, sampler, {}, scorer, small(), 5).empty());
}

TEST(Evolve, WhatTheSpaceRejectsIsLeftOut) {
  SearchSpace space = Landscape::space();
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.sketch == 0) return "no";
    return std::nullopt;
  };
  Sampler sampler(space, Rng(1));
  const std::vector<Scored> found = evolve(space, sampler, {}, Landscape::perfect_scores, small(), 10);
  EXPECT_FALSE(found.empty());
  for (const Scored& scored : found) EXPECT_EQ(scored.point.sketch, 1);
}

}  // namespace
}  // namespace lathe
