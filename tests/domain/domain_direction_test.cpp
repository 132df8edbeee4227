#include "domain/domain_direction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace lathe {
namespace {

using ::testing::ElementsAre;
using Integers = std::vector<int64_t>;

Domain one_of_each() {
  return {{{"tile", SplitParameter{24, 3, false, 24}},
           {"unroll", OrderedParameter{{0, 16, 64}}},
           {"order", CategoricalParameter{3}},
           {"loops", PermutationParameter{{"i", "j", "k"}}},
           {"rows", SplitParameter{10, 2, true, 10}}}};
}

std::vector<std::string> labels(const Domain& domain, size_t parameter) {
  std::vector<std::string> found;
  for (const Direction& direction : directions(domain, parameter)) found.push_back(label(domain, direction));
  return found;
}

TEST(DomainDirection, LabelsTellParameterAndSense) {
  const Domain domain = one_of_each();
  EXPECT_THAT(labels(domain, 0), ElementsAre("tile: 0 from 1 by a divisor", "tile: 0 from 2 by a divisor",
                                             "tile: 1 from 0 by a divisor", "tile: 1 from 2 by a divisor",
                                             "tile: 2 from 0 by a divisor", "tile: 2 from 1 by a divisor"));
  EXPECT_THAT(labels(domain, 1), ElementsAre("unroll -", "unroll +"));
  EXPECT_THAT(labels(domain, 2), ElementsAre("order = 0", "order = 1", "order = 2"));
  EXPECT_THAT(labels(domain, 3), ElementsAre("loops: 0 <-> 1", "loops: 1 <-> 2"));
  EXPECT_THAT(labels(domain, 4),
              ElementsAre("rows: 0 from 1 by one", "rows: 1 from 0 by one", "rows: 0 from 1 by a tile",
                          "rows: 1 from 0 by a tile", "rows: 0 from 1 by two", "rows: 1 from 0 by two"));
}

// FlexTensor's rearrangement: N (N - 1) moves of a split in N parts.
TEST(DomainDirection, AreAllOfTheDomainAndNoTwoAreCalledTheSame) {
  const Domain domain = one_of_each();
  const std::vector<Direction> all = directions(domain);
  EXPECT_EQ(all.size(), 3 * 2 + 2 + 3 + 2 + 6u);
  std::set<std::string> names;
  for (const Direction& direction : all) names.insert(label(domain, direction));
  EXPECT_EQ(names.size(), all.size());
  EXPECT_EQ(directions(Domain{{{"four", SplitParameter{1024, 4, false, 64}}}}).size(), 4 * 3u);
}

TEST(DomainDirection, AStepChangesOneParameterAsItsLabelSays) {
  const Domain domain = one_of_each();
  const Integers from = {4, 2, 1, 0, 2, 0, 1, 3};  // tile [3 4 2], unroll 16, order 0, k i j, rows [4 3]
  const auto moved = [&](const std::string& name) {
    for (const Direction& direction : directions(domain)) {
      if (label(domain, direction) == name) return step(domain, from, direction).value_or(Integers());
    }
    return Integers{-1};
  };
  EXPECT_THAT(moved("tile: 0 from 1 by a divisor"), ElementsAre(3, 2, 1, 0, 2, 0, 1, 3));  // 3 x 4 = 4 x 3
  EXPECT_THAT(moved("tile: 1 from 2 by a divisor"), ElementsAre(8, 1, 1, 0, 2, 0, 1, 3));
  EXPECT_THAT(moved("unroll +"), ElementsAre(4, 2, 2, 0, 2, 0, 1, 3));
  EXPECT_THAT(moved("unroll -"), ElementsAre(4, 2, 0, 0, 2, 0, 1, 3));
  EXPECT_THAT(moved("order = 2"), ElementsAre(4, 2, 1, 2, 2, 0, 1, 3));
  EXPECT_THAT(moved("loops: 1 <-> 2"), ElementsAre(4, 2, 1, 0, 2, 1, 0, 3));
  EXPECT_THAT(moved("rows: 1 from 0 by one"), ElementsAre(4, 2, 1, 0, 2, 0, 1, 4));
  EXPECT_THAT(moved("rows: 1 from 0 by two"), ElementsAre(4, 2, 1, 0, 2, 0, 1, 6));
}

// FlexTensor's neighbours in direction (1, 2): the least divisor of the product that is larger, if any.
TEST(DomainDirection, APartOfASplitIsRaisedAtTheCostOfAnother) {
  const auto moved = [](int64_t extent, const Integers& factors) {
    const Domain domain{{{"tile", SplitParameter{extent, 3, false, extent}}}};
    return step(domain, factors, {0, 1, 2, Stride::divisor});
  };
  EXPECT_EQ(moved(8, {2, 4}), (Integers{4, 2}));
  EXPECT_EQ(moved(12, {4, 3}), (Integers{6, 2}));
  EXPECT_FALSE(moved(8, {8, 1}));
}

TEST(DomainDirection, AStepOutOfTheDomainLeadsNowhere) {
  const Domain domain{{{"tile", SplitParameter{8, 2, false, 4}},
                       {"unroll", OrderedParameter{{1, 2}}},
                       {"order", CategoricalParameter{2}}}};
  const Integers from = {4, 0, 1};
  EXPECT_FALSE(step(domain, from, {0, 1, 0, Stride::divisor})) << "the innermost factor is 4 at most";
  EXPECT_TRUE(step(domain, from, {0, 0, 1, Stride::divisor}));
  EXPECT_FALSE(step(domain, from, {1, Direction::kNone, 0})) << "there is no value before the first";
  EXPECT_FALSE(step(domain, from, {2, 1, Direction::kNone})) << "it is there already";
}

// All that can be reached by single steps are the neighbours.
TEST(DomainDirection, NeighboursAreTheStepsInAllDirections) {
  const Domain domain = one_of_each();
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const Integers point = sample(domain, rng);
    std::set<Integers> reached;
    for (const Direction& direction : directions(domain)) {
      const auto next = step(domain, point, direction);
      if (!next) continue;
      EXPECT_TRUE(check(domain, *next)) << label(domain, direction);
      reached.insert(*next);
    }
    const auto list = neighbours(domain, point);
    EXPECT_EQ(std::set<Integers>(list.begin(), list.end()), reached);
  }
}

}  // namespace
}  // namespace lathe
