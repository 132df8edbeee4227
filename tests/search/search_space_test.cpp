#include "search/search_space.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

SearchSpace two_sketches() {
  SearchSpace space;
  space.sketches = {Domain{{{"a", OrderedParameter{{1, 2, 4}}}}},
                    Domain{{{"s", SplitParameter{12, 2, false, 4}}}}};
  space.sketch_names = {"first", "second"};
  return space;
}

TEST(SearchSpace, LegalPointsLieInTheirSketchesDomain) {
  const SearchSpace space = two_sketches();
  EXPECT_TRUE(space.legal({0, {0}}));
  EXPECT_TRUE(space.legal({0, {2}}));
  EXPECT_FALSE(space.legal({0, {3}})) << "one beyond the last value";
  EXPECT_FALSE(space.legal({0, {-1}}));
  EXPECT_FALSE(space.legal({0, {0, 0}}));
  EXPECT_TRUE(space.legal({1, {4}}));
  EXPECT_FALSE(space.legal({1, {5}})) << "no divisor";
  EXPECT_FALSE(space.legal({1, {6}})) << "too large for the innermost part";
  EXPECT_FALSE(space.legal({2, {0}}));
  EXPECT_FALSE(space.legal({-1, {0}}));
}

TEST(SearchSpace, WhatTheSpaceRejectsIsNotLegal) {
  SearchSpace space = two_sketches();
  int asked = 0;
  space.violation = [&](const Point& point) -> std::optional<std::string> {
    ++asked;
    if (point.integers[0] == 1) return "too wide";
    return std::nullopt;
  };
  EXPECT_TRUE(space.legal({0, {0}}));
  EXPECT_FALSE(space.legal({0, {1}}));
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(space.legal({0, {7}}));
  EXPECT_EQ(asked, 2) << "a point of no domain is no program that could be looked at";
}

TEST(SearchSpace, PointsAreTheirOwnIdentityWhereNothingElseIsKnown) {
  SearchSpace space = two_sketches();
  EXPECT_EQ(space.identity_of({0, {1}}), hash_of(Point{0, {1}}));
  EXPECT_NE(space.identity_of({0, {1}}), space.identity_of({1, {1}}));
  space.identity = [](const Point& point) { return static_cast<uint64_t>(point.integers[0] / 2); };
  EXPECT_EQ(space.identity_of({0, {0}}), space.identity_of({1, {1}}));
}

}  // namespace
}  // namespace lathe
