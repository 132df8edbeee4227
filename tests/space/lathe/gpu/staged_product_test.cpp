#include "space/lathe/gpu/staged_product.h"

#include <gmock/gmock.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RuleCase product() { return {"C[i:100, j:101] = sum(k:99) A[i,k] * B[k,j]", {}, generic_target("opencl")}; }

SidesOfTile sides_of(const RuleCase& tested) {
  return sides_of_tile(tested.dag().computes[0], tested.stage(0)).value();
}

std::string written(const RuleCase& tested, const Choices& answers = {}) {
  const StagedProductDecision decision = tested.decided(answers, [&](Decider& decider) {
    return decide_staged_product(decider, tested.stage(0), sides_of(tested));
  });
  return tested.written([&](Writer& writer) { write_staged_product(writer, decision); });
}

// Why these answers do not go together; empty where they do.
std::string violation(const RuleCase& tested, const Choices& answers) {
  return tested.decided(answers, [&](Decider& decider) {
    decide_staged_product(decider, tested.stage(0), sides_of(tested));
    return decider.violation ? decider.violation->message : std::string();
  });
}

TEST(StagedProduct, IsTheScheduleThatOneWritesByHand) {
  EXPECT_EQ(written(product(), {{"C.rows.threads", {8}},
                                {"C.rows.each", {2}},
                                {"C.rows.apart", {2}},
                                {"C.columns.threads", {8}},
                                {"C.columns.each", {2}},
                                {"C.columns.apart", {2}},
                                {"C.depth", {8}}}),
            "split C i [2 8 2]\nsplit C j [2 8 2]\nsplit C k [8]\n"
            "reorder C i.0 j.0 k.0 i.2 j.2 k.1 i.1 j.1 i.3 j.3\n"
            "unroll C i.1\nunroll C j.1\nunroll C i.3\nunroll C j.3\n"
            "cache_write C C.acc at=j.0 scope=registers\n"
            "split C.acc.out i [8 2]\nsplit C.acc.out j [8 2]\n"
            "reorder C.acc.out i.1 j.1 i.0 j.0 i.2 j.2\n"
            "bind C.acc.out i.1 thread\nbind C.acc.out j.1 thread\n"
            "unroll C.acc.out i.0\nunroll C.acc.out j.0\nunroll C.acc.out i.2\nunroll C.acc.out j.2\n"
            "cache_read C A A.pack at=k.0 scope=shared\ncache_read C B B.pack at=k.0 scope=shared\n"
            "bind C i.0 block\nbind C j.0 block\nbind C i.2 thread\nbind C j.2 thread\n"
            "fuse A.pack d0 d1\nsplit A.pack d0_d1 [64]\nreorder A.pack d0_d1.1 d0_d1.0\n"
            "bind A.pack d0_d1.1 thread\n"
            "fuse B.pack d0 d1\nsplit B.pack d0_d1 [64]\nreorder B.pack d0_d1.1 d0_d1.0\n"
            "bind B.pack d0_d1.1 thread\n");
}

TEST(StagedProduct, SidesAreTheLongestThatShareOperands) {
  const RuleCase image("C[n:2, f:6, y:5, x:7] = sum(c:4, r:3, s:3) I[n,c,y+r,x+s] * W[f,c,r,s]", {},
                       generic_target("opencl"));
  EXPECT_EQ(sides_of(image).rows, 1U);
  EXPECT_EQ(sides_of(image).columns, 3U);
  const RuleCase depthwise("C[c:5, y:6, x:7] = sum(r:3, s:3) I[c,y+r,x+s] * W[c,r,s]", {},
                           generic_target("opencl"));
  EXPECT_FALSE(sides_of_tile(depthwise.dag().computes[0], depthwise.stage(0)));
}

TEST(StagedProduct, WhatTheDeviceHasNoRoomForIsNamed) {
  EXPECT_EQ(violation(product(), {{"C.rows.threads", {32}}, {"C.columns.threads", {32}}}),
            "a block of 1024 threads is larger than 256");
  EXPECT_EQ(violation(product(), {{"C.rows.each", {8}}, {"C.columns.each", {8}}, {"C.rows.apart", {2}}}),
            "128 accumulators of a thread are more than 64");
  const Choices deep = {{"C.rows.threads", {16}}, {"C.rows.each", {8}},     {"C.columns.threads", {16}},
                        {"C.columns.each", {4}},  {"C.columns.apart", {2}}, {"C.depth", {64}}};
  EXPECT_THAT(violation(product(), deep), HasSubstr("a step stages 65536 bytes, more than 32768"));
  Choices alone = deep;
  alone["C.staged"] = {0};
  EXPECT_EQ(violation(product(), alone), "");
}

TEST(StagedProduct, ATensorThatIsReadInTwoWaysStaysWhereItIs) {
  const RuleCase square("C[i:10, j:10] = sum(k:7) A[i,k] * A[j,k]", {}, generic_target("opencl"));
  EXPECT_THAT(written(square), Not(HasSubstr("cache_read")));
}

// Where all taps of a large window would not fit, a step has one of them.
TEST(StagedProduct, StepsHaveAllTapsWhereTheyFit) {
  const RuleCase small("C[f:64, x:64] = sum(c:16, s:3) I[c,x+s] * W[f,c,s]", {}, generic_target("opencl"));
  EXPECT_THAT(written(small), HasSubstr("reorder C f.0 x.0 c.0 f.2 x.2 c.1 s f.1"));
  const RuleCase large("C[f:64, x:64] = sum(c:1000, s:900) I[c,x+s] * W[f,c,s]", {},
                       generic_target("opencl"));
  EXPECT_THAT(written(large), HasSubstr("reorder C f.0 x.0 s c.0 f.2 x.2 c.1 f.1"));
}

}  // namespace
}  // namespace lathe::testing
