#include "domain/thin.h"

#include <gtest/gtest.h>

#include <set>

#include "domain/choices.h"
#include "domain/domain_direction.h"

namespace lathe {
namespace {

Domain whole() {
  return {{{"i", SplitParameter{512, 3, false, 512}},
           {"j", SplitParameter{100, 2, true, 64}},
           {"unroll", OrderedParameter{{0, 4, 16, 64, 512}}},
           {"order", CategoricalParameter{6}},
           {"loops", PermutationParameter{{"x", "y"}}}}};
}
std::vector<int64_t> preferred() { return {8, 64, 37, 3, 5, 1, 0}; }

TEST(Thin, ASmallDomainStaysAsItIs) {
  const ThinnedDomain thinned = thin(whole(), preferred(), int64_t{1} << 40);
  EXPECT_EQ(thinned.domain.size(), whole().size());
  EXPECT_EQ(thinned.preferred, preferred());
}

TEST(Thin, PointsAreFewAndAllOfTheWhole) {
  for (const int64_t limit : {500, 2000, 20000}) {
    const ThinnedDomain thinned = thin(whole(), preferred(), limit);
    EXPECT_LE(thinned.domain.size(), limit);
    EXPECT_GE(thinned.domain.size(), limit / 16);
    const auto points = all_points(thinned.domain);
    EXPECT_EQ(static_cast<int64_t>(points.size()), thinned.domain.size());
    for (const auto& point : points) {
      EXPECT_TRUE(check(thinned.domain, point));
      const auto before = integers_of(whole(), choices_of(thinned.domain, point), preferred());
      ASSERT_TRUE(before);
      EXPECT_TRUE(check(whole(), *before));
    }
    EXPECT_EQ(choices_of(thinned.domain, thinned.preferred), choices_of(whole(), preferred()));
    EXPECT_TRUE(thinned.fixed.empty());
  }
}

// Whoever walks in steps comes to every point.
TEST(Thin, StepsLeadFromPointToPoint) {
  const Domain domain = thin(whole(), preferred(), 1000).domain;
  const std::vector<int64_t> first = all_points(domain).front();
  std::set<std::vector<int64_t>> reached{first};
  std::vector<std::vector<int64_t>> open{first};
  while (!open.empty()) {
    const std::vector<int64_t> at = open.back();
    open.pop_back();
    for (auto& next : neighbours(domain, at)) {
      EXPECT_TRUE(check(domain, next));
      if (reached.insert(next).second) open.push_back(std::move(next));
    }
  }
  EXPECT_EQ(static_cast<int64_t>(reached.size()), domain.size());
}

TEST(Thin, WhatCannotBeThinnedIsLeft) {
  const Domain orders{{{"loops", PermutationParameter{{"a", "b", "c", "d"}}}}};
  EXPECT_EQ(thin(orders, {0, 1, 2, 3}, 5).domain.size(), 24);
}

// Those with the fewest values first.
TEST(Thin, ParametersAreLeftOutWhereNoListCanBeShorter) {
  const ThinnedDomain thinned = thin(whole(), preferred(), 20);
  EXPECT_LE(thinned.domain.size(), 20);
  EXPECT_FALSE(thinned.fixed.empty());
  Choices all = choices_of(thinned.domain, thinned.preferred);
  all.insert(thinned.fixed.begin(), thinned.fixed.end());
  EXPECT_EQ(all, choices_of(whole(), preferred()));
  EXPECT_TRUE(thinned.fixed.contains("loops"));
}

}  // namespace
}  // namespace lathe
