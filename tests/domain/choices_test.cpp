#include "domain/choices.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

using Integers = std::vector<int64_t>;

Domain domain() {
  return {{{"rows", OrderedParameter{{1, 4, 8, 16}}},
           {"order", CategoricalParameter{3}},
           {"tile", SplitParameter{24, 3, false, 24}},
           {"loops", PermutationParameter{{"i", "j", "k"}}}}};
}

TEST(Choices, NameTheValuesThatAPointStandsFor) {
  const Choices choices = choices_of(domain(), {2, 1, 4, 2, 2, 0, 1});
  EXPECT_EQ(choices, (Choices{{"rows", {8}}, {"order", {1}}, {"tile", {4, 2}}, {"loops", {2, 0, 1}}}));
}

TEST(Choices, LeadBackToTheirPoint) {
  Rng rng(5);
  const Integers otherwise = sample(domain(), rng);
  for (int i = 0; i < 200; ++i) {
    const Integers point = sample(domain(), rng);
    EXPECT_EQ(integers_of(domain(), choices_of(domain(), point), otherwise), point);
  }
}

TEST(Choices, WhatIsNotAskedForIsIgnoredAndWhatIsNotAnsweredIsAsPreferred) {
  const Integers preferred = {1, 2, 1, 6, 0, 1, 2};
  EXPECT_EQ(integers_of(domain(), {{"order", {0}}, {"gone", {7}}}, preferred),
            (Integers{1, 0, 1, 6, 0, 1, 2}));
  EXPECT_EQ(integers_of(domain(), {}, preferred), preferred);
}

// A list that has another value in front leads to the same value at another place.
TEST(Choices, FindAValueWhereverItStands) {
  const Domain longer{{{"rows", OrderedParameter{{1, 2, 4, 8, 16}}}}};
  EXPECT_EQ(integers_of(longer, choices_of(domain(), {2, 1, 4, 2, 2, 0, 1}), {0}), Integers{3});
}

TEST(Choices, NoPointHasAValueThatItsParameterLacks) {
  const Integers preferred = {1, 2, 1, 6, 0, 1, 2};
  for (const Choices& wrong : {Choices{{"rows", {5}}}, Choices{{"rows", {4, 8}}}, Choices{{"rows", {}}},
                               Choices{{"order", {3}}}, Choices{{"order", {-1}}}, Choices{{"tile", {5, 2}}},
                               Choices{{"tile", {4}}}, Choices{{"loops", {0, 1, 1}}}})
    EXPECT_FALSE(integers_of(domain(), wrong, preferred)) << wrong.begin()->first;
}

// What did well for another task is carried over to extents and lists of this one.
TEST(Choices, LeadToTheNearestValuesOfAnotherDomain) {
  const Domain other{{{"rows", OrderedParameter{{1, 6, 14}}},
                      {"order", CategoricalParameter{2}},
                      {"tile", SplitParameter{30, 3, false, 30}},
                      {"loops", PermutationParameter{{"i", "j", "k"}}},
                      {"own", OrderedParameter{{3, 5}}}}};
  const Integers otherwise = {0, 1, 1, 1, 0, 1, 2, 1};
  // 8 rows: 6 is nearer than 14; of 2 x 4 the inner 2 divides 30, and 5 of 15 is the divisor next to 4.
  EXPECT_EQ(integers_like(other, choices_of(domain(), {2, 0, 4, 2, 2, 0, 1}), otherwise),
            (Integers{1, 0, 5, 2, 2, 0, 1, 1}));
  // A third category and an order of other items are unlike any.
  EXPECT_EQ(integers_like(other, {{"order", {2}}, {"loops", {0, 1, 1}}, {"tile", {4}}}, otherwise),
            otherwise);
}

TEST(Choices, WhatIsCarriedOverIsOfTheDomain) {
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    const auto extent = static_cast<int64_t>(rng.below(200) + 1);
    const Domain other{{{"rows", OrderedParameter{{1, 3, 7}}},
                        {"order", CategoricalParameter{3}},
                        {"tile", SplitParameter{extent, 3, rng.chance(0.5), 16}},
                        {"loops", PermutationParameter{{"i", "j", "k"}}}}};
    const Integers carried =
        integers_like(other, choices_of(domain(), sample(domain(), rng)), sample(other, rng));
    EXPECT_TRUE(check(other, carried)) << extent;
    const Integers own = sample(other, rng);
    EXPECT_EQ(integers_like(other, choices_of(other, own), carried), own);
  }
}

}  // namespace
}  // namespace lathe
