#include "domain/encoding.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(Encoding, EachKindOfParameterHasItsNumbers) {
  const Domain domain{{{"i", SplitParameter{64, 3, false, 64}},
                       {"unroll", OrderedParameter{{0, 16, 64}}},
                       {"order", CategoricalParameter{3}},
                       {"loops", PermutationParameter{{"x", "y", "z"}}}}};
  EXPECT_EQ(encoding_names(domain),
            (std::vector<std::string>{"i.0", "i.1", "i.2", "unroll", "order=0", "order=1", "order=2",
                                      "loops.x", "loops.y", "loops.z"}));
  EXPECT_EQ(encoding_size(domain), encoding_names(domain).size());
  EXPECT_EQ(encoded(domain, {2, 8, 1, 2, 2, 0, 1}), (std::vector<float>{2, 1, 3, 0.5F, 0, 0, 1, 0.5F, 1, 0}));
}

TEST(Encoding, WhatLeavesNoChoiceIsZero) {
  const Domain domain{{{"unroll", OrderedParameter{{16}}}, {"loops", PermutationParameter{{"x"}}}}};
  EXPECT_EQ(encoded(domain, {0, 0}), (std::vector<float>{0, 0}));
}

// The outer part of an imperfect split is the ceiling of what is left.
TEST(Encoding, TheOuterPartOfASplitFollowsFromItsFactors) {
  const Domain domain{{{"i", SplitParameter{1000, 2, true, 512}}}};
  EXPECT_EQ(encoded(domain, {500})[0], 1);
  EXPECT_EQ(encoded(domain, {256})[0], 2);
}

}  // namespace
}  // namespace lathe
