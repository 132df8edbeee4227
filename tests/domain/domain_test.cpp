#include "domain/domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Integers = std::vector<int64_t>;

Domain split_domain(int64_t extent, int parts, bool imperfect, int64_t largest_innermost = 1 << 20) {
  return {{{"s", SplitParameter{extent, parts, imperfect, largest_innermost}}}};
}

Domain mixed_domain() {
  return {{{"tile_i", SplitParameter{56, 4, false, 64}},
           {"tile_j", SplitParameter{1001, 3, true, 32}},
           {"unroll", OrderedParameter{{0, 16, 64, 512}}},
           {"order", CategoricalParameter{5}},
           {"tile_k", SplitParameter{67, 2, false, 64}},
           {"whole", SplitParameter{12, 1, false, 64}}}};
}

bool contains(const std::vector<Integers>& list, const Integers& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

TEST(Domain, CountsOfFourWayDivisibleSplits) {
  EXPECT_EQ(split_domain(1024, 4, false).size(), 286);
  EXPECT_EQ(split_domain(56, 4, false).size(), 80);
  EXPECT_EQ(split_domain(16, 4, false).size(), 35);
}

TEST(Domain, CountEqualsTheListOfAllPoints) {
  for (bool imperfect : {false, true}) {
    for (int64_t extent : {1, 2, 7, 12, 30, 64}) {
      for (int parts : {1, 2, 3, 4}) {
        for (int64_t largest : {1, 4, 100}) {
          const Domain domain = split_domain(extent, parts, imperfect, largest);
          const auto all = all_points(domain);
          EXPECT_EQ(domain.size(), static_cast<int64_t>(all.size()))
              << extent << " " << parts << " " << largest;
          EXPECT_EQ(std::set<Integers>(all.begin(), all.end()).size(), all.size());
          for (const Integers& point : all) EXPECT_TRUE(check(domain, point).has_value());
        }
      }
    }
  }
}

TEST(Domain, EveryIntegerIsAFactorOfAnImperfectTwoWaySplit) {
  EXPECT_EQ(split_domain(1001, 2, true, 64).size(), 64);
  EXPECT_EQ(split_domain(14, 2, true, 64).size(), 14);
}

TEST(Domain, SizeSaturates) {
  Domain domain;
  for (int i = 0; i < 40; ++i) domain.parameters.push_back({"p", CategoricalParameter{1000}});
  EXPECT_EQ(domain.size(), std::numeric_limits<int64_t>::max());
  EXPECT_GT(split_domain(1 << 20, 4, true).size(), 1 << 20);
}

TEST(Domain, MovesOfADivisor) {
  const auto moved = [](int64_t extent, const Integers& from) {
    return neighbours(split_domain(extent, 3, false), from);
  };
  // Parts are (outer, from[0], from[1]); the outer part is 1 here, so the moves are between the two factors
  // or out.
  EXPECT_THAT(moved(8, {2, 4}),
              UnorderedElementsAre(Integers{4, 2}, Integers{1, 8}, Integers{1, 4}, Integers{2, 2}));
  EXPECT_TRUE(contains(moved(12, {4, 3}), {6, 2}));
  // [8, 1] has no move that raises the 8: the other factor is 1.
  for (const Integers& next : moved(8, {8, 1})) EXPECT_LT(next[0], 8);
}

TEST(Domain, SamplesOfAPerfectSplitAreUniform) {
  const Domain domain = split_domain(16, 4, false, 8);
  const auto all = all_points(domain);
  std::map<Integers, int> times;
  Rng rng(7);
  const int draws = 400 * static_cast<int>(all.size());
  for (int i = 0; i < draws; ++i) ++times[sample(domain, rng)];
  ASSERT_EQ(times.size(), all.size());
  for (const auto& [point, n] : times) {
    EXPECT_GT(n, 300);
    EXPECT_LT(n, 500);
  }
}

TEST(Domain, EveryImperfectFactorCanBeDrawn) {
  const Domain domain = split_domain(50, 3, true, 16);
  std::set<Integers> seen;
  Rng rng(3);
  for (int i = 0; i < 100'000; ++i) seen.insert(sample(domain, rng));
  EXPECT_EQ(static_cast<int64_t>(seen.size()), domain.size());
}

TEST(Domain, SamplesMutantsAndChildrenAreLegal) {
  const Domain domain = mixed_domain();
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const Integers a = sample(domain, rng);
    const Integers b = sample(domain, rng);
    EXPECT_TRUE(check(domain, a).has_value());
    const Integers mutant = mutate(domain, a, rng);
    EXPECT_NE(mutant, a);
    EXPECT_TRUE(check(domain, mutant).has_value());
    EXPECT_TRUE(check(domain, crossover(domain, a, b, rng)).has_value());
  }
}

TEST(Domain, CrossoverTakesParametersWhole) {
  const Domain domain{{{"a", SplitParameter{64, 3, false, 64}}, {"b", CategoricalParameter{9}}}};
  std::set<Integers> children;
  Rng rng(5);
  for (int i = 0; i < 200; ++i) children.insert(crossover(domain, {2, 4, 1}, {8, 8, 7}, rng));
  EXPECT_THAT(children, UnorderedElementsAre(Integers{2, 4, 1}, Integers{8, 8, 7}, Integers{2, 4, 7},
                                             Integers{8, 8, 1}));
}

TEST(Domain, NeighboursAreLegalDistinctAndDifferInOneParameter) {
  const Domain domain = mixed_domain();
  Rng rng(2);
  for (int i = 0; i < 300; ++i) {
    const Integers point = sample(domain, rng);
    const auto list = neighbours(domain, point);
    EXPECT_EQ(std::set<Integers>(list.begin(), list.end()).size(), list.size());
    for (const Integers& next : list) {
      EXPECT_TRUE(check(domain, next).has_value());
      int changed = 0;
      changed += !std::equal(next.begin(), next.begin() + 3, point.begin());
      changed += !std::equal(next.begin() + 3, next.begin() + 5, point.begin() + 3);
      for (int slot = 5; slot < 8; ++slot) changed += next[slot] != point[slot];
      EXPECT_EQ(changed, 1);
    }
    EXPECT_TRUE(contains(list, random_neighbour(domain, point, rng)));
  }
}

TEST(Domain, NeighboursOfListsAndPerfectSplitsAreSymmetric) {
  const Domain domain{{{"tile", SplitParameter{120, 3, false, 16}},
                       {"unroll", OrderedParameter{{1, 2, 4, 8}}},
                       {"order", CategoricalParameter{3}}}};
  for (const Integers& point : all_points(domain)) {
    for (const Integers& next : neighbours(domain, point))
      EXPECT_TRUE(contains(neighbours(domain, next), point));
  }
}

TEST(Domain, ImperfectSplitStepsToOneTileMoreOrFewer) {
  const Domain domain = split_domain(1000, 2, true, 1000);
  EXPECT_THAT(neighbours(domain, {100}), UnorderedElementsAre(Integers{99}, Integers{101}, Integers{91},
                                                              Integers{112}, Integers{50}, Integers{200}));
}

TEST(Domain, NeighboursReachTheWholeSplit) {
  for (bool imperfect : {false, true}) {
    const Domain domain = split_domain(36, 3, imperfect, 16);
    std::set<Integers> reached{{1, 1}};
    std::vector<Integers> open{{1, 1}};
    while (!open.empty()) {
      const Integers point = open.back();
      open.pop_back();
      for (const Integers& next : neighbours(domain, point)) {
        if (reached.insert(next).second) open.push_back(next);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(reached.size()), domain.size());
  }
}

TEST(Domain, ADomainWithoutChoiceStaysAsItIs) {
  const Domain domain{{{"tile", SplitParameter{67, 2, false, 64}}, {"unroll", OrderedParameter{{4}}}}};
  Rng rng(1);
  EXPECT_EQ(domain.size(), 1);
  EXPECT_THAT(sample(domain, rng), ElementsAre(1, 0));
  EXPECT_THAT(mutate(domain, {1, 0}, rng), ElementsAre(1, 0));
  EXPECT_THAT(random_neighbour(domain, {1, 0}, rng), ElementsAre(1, 0));
  EXPECT_TRUE(neighbours(domain, {1, 0}).empty());
}

TEST(Domain, Permutations) {
  const Domain domain{
      {{"loops", PermutationParameter{{"i", "j", "k", "l"}}}, {"last", CategoricalParameter{2}}}};
  EXPECT_EQ(domain.slots(), 5);
  EXPECT_EQ(domain.first_slot(1), 4);
  EXPECT_EQ(domain.size(), 48);
  const auto all = all_points(domain);
  EXPECT_EQ(std::set<Integers>(all.begin(), all.end()).size(), 48u);
  std::map<Integers, int> times;
  Rng rng(9);
  for (int i = 0; i < 48 * 200; ++i) ++times[sample(domain, rng)];
  ASSERT_EQ(times.size(), 48u);
  for (const auto& [point, n] : times) {
    EXPECT_TRUE(check(domain, point).has_value());
    EXPECT_GT(n, 120);
    EXPECT_LT(n, 280);
  }
  EXPECT_THAT(neighbours(domain, {3, 0, 1, 2, 1}),
              UnorderedElementsAre(Integers{0, 3, 1, 2, 1}, Integers{3, 1, 0, 2, 1}, Integers{3, 0, 2, 1, 1},
                                   Integers{3, 0, 1, 2, 0}));
  EXPECT_EQ(check(domain, {0, 1, 1, 2, 0}).error().to_string(),
            "loops: an order must hold each of 0..3 once");
  Domain long_one{{{"loops", PermutationParameter{std::vector<std::string>(30, "l")}}}};
  EXPECT_EQ(long_one.size(), std::numeric_limits<int64_t>::max());
}

TEST(Domain, HashTellsPointsApart) {
  EXPECT_EQ(hash_of({1, {2, 3}}), hash_of({1, {2, 3}}));
  EXPECT_NE(hash_of({1, {2, 3}}), hash_of({1, {3, 2}}));
  EXPECT_NE(hash_of({1, {2, 3}}), hash_of({0, {2, 3}}));
}

TEST(Domain, ErrorsNameTheParameter) {
  const Domain domain{{{"tile", SplitParameter{56, 3, false, 8}}, {"unroll", OrderedParameter{{0, 16}}}}};
  EXPECT_EQ(check(domain, {1, 1}).error().to_string(), "a point of this sketch has 3 integers, not 2");
  EXPECT_EQ(check(domain, {1, 1, 2}).error().to_string(), "unroll: choice must be in 0..1 and is 2");
  EXPECT_EQ(check(domain, {1, 14, 0}).error().to_string(),
            "tile: factor 1 of a split of 56 must be in 1..8 and is 14");
  EXPECT_EQ(check(domain, {3, 8, 0}).error().to_string(),
            "tile: factor 0 of a split of 56 must divide 7 and is 3");
}

TEST(Domain, RedrawingChangesOneParameterAlone) {
  const Domain domain{{{"tile", SplitParameter{64, 3, false, 64}},
                       {"unroll", OrderedParameter{{0, 16, 64}}},
                       {"only", CategoricalParameter{1}}}};
  Rng rng(1);
  const std::vector<int64_t> from{4, 4, 1, 0};
  for (int i = 0; i < 50; ++i) {
    const std::vector<int64_t> tile = redraw(domain, from, 0, rng);
    EXPECT_TRUE(check(domain, tile));
    EXPECT_TRUE(tile[0] != 4 || tile[1] != 4);
    EXPECT_EQ(tile[2], 1);
    EXPECT_NE(redraw(domain, from, 1, rng)[2], 1);
    EXPECT_EQ(redraw(domain, from, 2, rng), from);
  }
}

}  // namespace
}  // namespace lathe
