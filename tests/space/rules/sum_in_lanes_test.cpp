#include "space/rules/sum_in_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;

Parts parts(const RuleCase& c) {
  const Compute& compute = c.dag().computes[0];
  const int64_t needed = needed_parts(c.analysis(), compute);
  return parts_of(c.analysis(), compute, needed, needed);
}

// One sum may add up 512 numbers, and the sum of the parts no more than each of them.
TEST(SumInLanes, LongSumsAreCutInParts) {
  EXPECT_EQ(parts(RuleCase("O[i:4] = sum(r:512) A[i,r]")).count, 1);
  EXPECT_EQ(parts(RuleCase("O[i:4] = sum(r:5120) A[i,r]")).count, 10);
  EXPECT_EQ(parts(RuleCase("O[i:4] = sum(r:100000) A[i,r]")).count, 196);
  EXPECT_EQ(parts(RuleCase("O[i:4] = max(r:100000) A[i,r]")).count, 1) << "a maximum is exact";
}

TEST(SumInLanes, EveryCoreHasPartsOfFewResults) {
  EXPECT_EQ(parts(RuleCase("O[i:2] = max(r:100000) A[i,r]", {}, 2)).count, 8);
  EXPECT_EQ(parts(RuleCase("O[i:2] = max(r:4096) A[i,r]", {}, 2)).count, 1) << "too little to share";
}

// The outermost axis that is long enough; parts of the last give the lanes whole vectors.
TEST(SumInLanes, PartsAreOfTheAxisThatIsLongEnough) {
  EXPECT_EQ(parts(RuleCase("O[i:4] = sum(q:3, r:4000) A[i,q,r]")).axis, 2u);
  EXPECT_EQ(parts(RuleCase("O[i:4] = sum(q:64, r:400) A[i,q,r]")).axis, 1u);
  const Parts last = parts(RuleCase("O[i:4] = sum(r:5130) A[i,r]"));
  EXPECT_EQ(last.size % 8, 0);
  EXPECT_GE(5130 % last.size, 8);
}

TEST(SumInLanes, IsDecidedAndWritten) {
  const RuleCase c("C[i:7, j:6] = sum(r:2048) A[i,r] * B[r,j]", {"B"});
  const SumInLanesDecision decision = c.decided(
      {{"C.together", {12}}}, [&](Decider& decider) { return decide_sum_in_lanes(decider, c.stage(0)); });
  EXPECT_EQ(decision.parts.count, 4);
  EXPECT_EQ(text_of(decision.places), "cache_read C B B.pack at=prepare scope=workspace layout=[1][0]\n");
  const std::string text = c.written([&](Writer& writer) { write_sum_in_lanes(writer, decision); });
  EXPECT_THAT(text, HasSubstr("rfactor C r.1.1\nrfactor C.rf r.0\n"));
  EXPECT_THAT(text, HasSubstr("split C.rf.rf j [6]\n"));
  expect_same(RuleCase(c).task(), parse_trace(text).value());
}

}  // namespace
}  // namespace lathe::testing
