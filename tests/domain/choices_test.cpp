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

}  // namespace
}  // namespace lathe
