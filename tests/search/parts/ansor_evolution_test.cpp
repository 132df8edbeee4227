#include "search/parts/ansor_evolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/landscape.h"

namespace lathe {
namespace {

TEST(AnsorEvolution, MutantsDifferInOneParameterMostlyASplit) {
  const Domain domain = Landscape::space().sketches[0];
  const Point from = Landscape::optimum();
  Rng rng(1);
  int splits = 0;
  int same = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<int64_t> mutant = ansor_mutant(domain, from.integers, rng);
    ASSERT_TRUE(check(domain, mutant));
    int parameters = 0;
    for (size_t p = 0; p < domain.parameters.size(); ++p) {
      const auto first = static_cast<size_t>(domain.first_slot(p));
      const auto last = first + static_cast<size_t>(domain.parameters[p].slots());
      bool differs = false;
      for (size_t slot = first; slot < last; ++slot) differs |= mutant[slot] != from.integers[slot];
      parameters += differs ? 1 : 0;
      splits += differs && p < 3 ? 1 : 0;
    }
    EXPECT_LE(parameters, 1);
    same += parameters == 0 ? 1 : 0;
  }
  EXPECT_GT(splits, 2000 * 0.6);
  EXPECT_LT(same, 2000 * 0.35);
}

TEST(AnsorEvolution, EvolvedPointsAreUnusedDistinctAndSorted) {
  const SearchSpace space = Landscape::space();
  Sampler sampler(space, Rng(2));
  Rng rng(3);
  const std::vector<Point> first = sampler.peek(64);
  sampler.use(first[0]);
  const auto found = evolve_as_ansor(space, sampler, first, perfect(), {.keep = 32}, rng);
  ASSERT_EQ(found.size(), 32U);
  std::set<uint64_t> seen;
  double last = 0;
  for (const Scored& scored : found) {
    EXPECT_FALSE(sampler.used(scored.point));
    EXPECT_TRUE(seen.insert(space.identity_of(scored.point)).second);
    EXPECT_GE(scored.cost, last);
    last = scored.cost;
  }
}

TEST(AnsorEvolution, GenerationsImproveAndNothingComesOfNothing) {
  const SearchSpace space = Landscape::space();
  const auto best_after = [&](int generations) {
    Sampler sampler(space, Rng(2));
    Rng rng(3);
    return evolve_as_ansor(space, sampler, sampler.peek(128), perfect(), {.generations = generations}, rng)
        .at(0)
        .cost;
  };
  EXPECT_LT(best_after(6), best_after(0));
  Sampler sampler(space, Rng(2));
  Rng rng(3);
  EXPECT_TRUE(evolve_as_ansor(space, sampler, {}, perfect(), {}, rng).empty());
  const Predictor hopeless = predictor_of(
      [](std::span<const Point> points) { return std::vector<double>(points.size(), INFINITY); });
  EXPECT_TRUE(evolve_as_ansor(space, sampler, sampler.peek(8), hopeless, {}, rng).empty());
}

}  // namespace
}  // namespace lathe
