#include "space/rules/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RuleCase on_cores(int cores, const std::string& text = "O[i:300, j:400] = A[i,j] + B[i,j]") {
  return RuleCase(text, {}, cores);
}

// Eight pieces a core: 3 x 5 are not enough for two, 3 x 5 x 4 are.
TEST(Parallel, AsManyLoopsBecomeOneAsGiveWorkToEveryCore) {
  const OuterLoops loops = {{"a", 3}, {"b", 5}, {"c", 4}, {"d", 7}};
  const SharedLoops one = share_loops(on_cores(1).analysis(), loops);
  EXPECT_THAT(one.shared, IsEmpty());
  EXPECT_THAT(one.names, ElementsAre("a", "b", "c", "d"));
  const SharedLoops two = share_loops(on_cores(2).analysis(), loops);
  EXPECT_THAT(two.shared, ElementsAre("a", "b", "c"));
  EXPECT_THAT(two.names, ElementsAre("a_b_c", "d"));
  EXPECT_THAT(share_loops(on_cores(2).analysis(), {{"a", 16}, {"b", 5}}).shared, ElementsAre("a"));
}

TEST(Parallel, OnePieceIsNotShared) {
  const RuleCase c = on_cores(2);
  EXPECT_THAT(share_loops(c.analysis(), {{"a", 1}, {"b", 1}}).shared, IsEmpty());
  EXPECT_THAT(share_loops(c.analysis(), {}).names, IsEmpty());
}

// Telling another core takes longer than a short stage does; exponentials take longer than sums.
TEST(Parallel, WhatIsDoneInAMomentIsNotShared) {
  const OuterLoops loops = {{"i", 30}, {"j", 40}};
  const auto is_shared = [&](const std::string& text) {
    const RuleCase c = on_cores(2, text);
    return !share_loops_if_long(c.analysis(), c.dag().computes[0], loops).shared.empty();
  };
  EXPECT_FALSE(is_shared("O[i:30, j:40] = A[i,j] + B[i,j]"));
  EXPECT_TRUE(is_shared("O[i:30, j:40] = exp(exp(exp(A[i,j])))"));
  EXPECT_TRUE(is_shared("O[i:300, j:400] = A[i,j] + B[i,j]"));
}

TEST(Parallel, IsWrittenAsOneLoop) {
  const RuleCase c = on_cores(2);
  const auto written = [&](const OuterLoops& loops) {
    return c.written([&](Writer& writer) { write_shared(writer, "O", share_loops(writer, loops)); });
  };
  EXPECT_EQ(written({{"i", 3}, {"j", 40}}), "fuse O i j\nparallel O i_j\n");
  EXPECT_EQ(written({{"i", 300}, {"j", 40}}), "parallel O i\n");
  EXPECT_EQ(written({{"i", 1}}), "");
}

}  // namespace
}  // namespace lathe::testing
