#include "session/commands/search_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/all.h"
#include "search/all.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

TEST(SearchParts, OnesOwnNamesComeFirstAndOthersAreAsEver) {
  int strategies = 0, models = 0;
  SearchParts parts;
  parts.strategies["random"] = [&](SearchSpace space, uint64_t seed) {
    ++strategies;
    return make_strategy("random", std::move(space), seed);
  };
  parts.cost_models["mine"] = [&] {
    ++models;
    return make_cost_model("none");
  };
  EXPECT_TRUE(parts.check_strategy("random"));
  EXPECT_TRUE(parts.check_strategy("annealing:batch=8"));
  EXPECT_TRUE(parts.make_strategy("random", {}, 1));
  EXPECT_TRUE(parts.make_strategy("genetic", {}, 1));
  EXPECT_EQ(strategies, 1);
  EXPECT_TRUE(parts.make_cost_model("mine"));
  EXPECT_TRUE(parts.make_cost_model("gbt"));
  EXPECT_EQ(models, 1);
}

TEST(SearchParts, WhatThereIsNotIsRefused) {
  const SearchParts parts;
  EXPECT_THAT(refusal_of(parts.check_strategy("magic")), HasSubstr("magic"));
  EXPECT_THAT(refusal_of(parts.make_strategy("magic", {}, 1)), HasSubstr("magic"));
  EXPECT_THAT(refusal_of(parts.make_cost_model("magic")), HasSubstr("magic"));
}

}  // namespace
}  // namespace lathe
