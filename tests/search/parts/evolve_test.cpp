// Evolution under a model alone: what it gives, and what it never does.
#include "search/parts/evolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "search/landscape.h"

namespace lathe {
namespace {

EvolveOptions keeping(int keep) { return {.population = 64, .generations = 6, .keep = keep}; }

TEST(Evolve, GivesDistinctLegalUnusedPointsBestFirst) {
  const SearchSpace space = Landscape::space();
  Sampler sampler(space, Rng(5));
  std::vector<Point> measured;
  for (int i = 0; i < 10; ++i) measured.push_back(*sampler.draw());
  const std::vector<Scored> found = evolve(space, sampler, measured, perfect(), keeping(20));
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
    EvolveOptions options = keeping(1);
    options.generations = generations;
    Sampler sampler(space, Rng(11));
    return evolve(space, sampler, {}, perfect(), options).at(0).cost;
  };
  EXPECT_LT(best_after(8), best_after(1));
}

TEST(Evolve, NoPointIsScoredTwice) {
  const SearchSpace space = Landscape::space();
  Sampler sampler(space, Rng(3));
  std::set<uint64_t> scored;
  const Predictor predictor = predictor_of([&](std::span<const Point> points) {
    for (const Point& point : points) EXPECT_TRUE(scored.insert(hash_of(point)).second);
    return Landscape::perfect_scores(points);
  });
  evolve(space, sampler, {}, predictor, keeping(5));
  EXPECT_GT(scored.size(), 64U);
}

// A draft that is right leads to better points than the model alone, which is asked for no more programs than
// there are in a population.
TEST(Evolve, DraftsLeadTheWay) {
  const SearchSpace space = Landscape::space();
  int verified = 0;
  Predictor predictor = predictor_of([&](std::span<const Point> points) {
    verified += static_cast<int>(points.size());
    return Landscape::perfect_scores(points);
  });
  Sampler alone(space, Rng(5));
  const double without = evolve(space, alone, {}, predictor, keeping(1)).at(0).cost;
  EXPECT_GT(verified, 2 * 64);
  verified = 0;
  predictor.draft = perfect().full;
  Sampler sampler(space, Rng(5));
  const std::vector<Scored> found = evolve(space, sampler, {}, predictor, keeping(1));
  EXPECT_LT(found.at(0).cost, without);
  EXPECT_LE(verified, 64);
}

// What is drafted may be illegal or used; what is given is neither, and its cost is the model's.
TEST(Evolve, DraftsAreVerified) {
  SearchSpace space = Landscape::space();
  space.violation = [](const Point& point) {
    return point.integers[7] == 3 ? std::optional<std::string>("no such order") : std::nullopt;
  };
  Sampler sampler(space, Rng(9));
  std::vector<Point> measured;
  for (int i = 0; i < 10; ++i) measured.push_back(*sampler.draw());
  Predictor predictor = perfect();
  predictor.draft = [](std::span<const Point> points) {
    return Prediction{std::vector(points.size(), 7.0), std::vector(points.size(), 0.0)};
  };
  const std::vector<Scored> found = evolve(space, sampler, measured, predictor, keeping(20));
  ASSERT_EQ(found.size(), 20U);
  for (const Scored& scored : found) {
    EXPECT_TRUE(space.legal(scored.point));
    EXPECT_FALSE(sampler.used(scored.point));
    EXPECT_EQ(scored.cost, Landscape::seconds(scored.point));
  }
}

TEST(Evolve, TheSameSeedGivesTheSamePoints) {
  const SearchSpace space = Landscape::space();
  const auto points = [&](uint64_t seed) {
    Sampler sampler(space, Rng(seed));
    std::vector<uint64_t> hashes;
    for (const Scored& scored : evolve(space, sampler, {}, perfect(), keeping(10)))
      hashes.push_back(hash_of(scored.point));
    return hashes;
  };
  EXPECT_EQ(points(7), points(7));
  EXPECT_NE(points(7), points(8));
}

TEST(Evolve, WhereEverythingIsWorthNoTrialNothingIsLeft) {
  const SearchSpace space = Landscape::space();
  Sampler sampler(space, Rng(1));
  const Predictor predictor = predictor_of(
      [](std::span<const Point> points) { return std::vector<double>(points.size(), INFINITY); });
  EXPECT_TRUE(evolve(space, sampler, {}, predictor, keeping(5)).empty());
}

TEST(Evolve, WhatTheSpaceRejectsIsLeftOut) {
  SearchSpace space = Landscape::space();
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.sketch == 0) return "no";
    return std::nullopt;
  };
  Sampler sampler(space, Rng(1));
  const std::vector<Scored> found = evolve(space, sampler, {}, perfect(), keeping(10));
  EXPECT_FALSE(found.empty());
  for (const Scored& scored : found) EXPECT_EQ(scored.point.sketch, 1);
}

}  // namespace
}  // namespace lathe
