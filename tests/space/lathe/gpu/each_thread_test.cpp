#include "space/lathe/gpu/each_thread.h"

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

std::string written(const RuleCase& tested, size_t compute, const Choices& answers = {}) {
  const EachThreadDecision decision = tested.decided(
      answers, [&](Decider& decider) { return decide_each_thread(decider, tested.stage(compute)); });
  return tested.written([&](Writer& writer) { write_each_thread(writer, decision); });
}

TEST(EachThread, NeighboursHaveNeighbouringResults) {
  const RuleCase tested("C[i:30, j:40] = exp(A[i,j])", {}, generic_target("opencl"));
  EXPECT_EQ(written(tested, 0, {{"C.threads", {64}}, {"C.each", {4}}}),
            "fuse C i j\nsplit C i_j [4 64]\nreorder C i_j.0 i_j.2 i_j.1\nbind C i_j.0 block\n"
            "bind C i_j.2 thread\n");
  EXPECT_EQ(written(tested, 0, {{"C.threads", {128}}, {"C.each", {1}}}),
            "fuse C i j\nsplit C i_j [128]\nbind C i_j.0 block\nbind C i_j.1 thread\n");
}

TEST(EachThread, AReductionAddsUpInARegister) {
  const RuleCase alone("S[i:300] = sum(j:40) A[i,j]", {}, generic_target("opencl"));
  EXPECT_EQ(written(alone, 0, {{"S.threads", {64}}, {"S.each", {1}}}),
            "split S i [64]\nbind S i.0 block\nbind S i.1 thread\n"
            "cache_write S S.acc at=i.1 scope=registers\n");
  const RuleCase taken("S[i:300] = sum(j:40) A[i,j]\nC[i:300] = sqrt(S[i])", {}, generic_target("opencl"));
  EXPECT_EQ(written(taken, 0, {{"S.threads", {64}}, {"S.each", {1}}}),
            "split S i [64]\nbind S i.0 block\nbind S i.1 thread\n"
            "reverse_compute_at C S i.1 scope=registers\n");
}

TEST(EachThread, OneResultIsOneThreads) {
  const RuleCase tested("S[] = sum(j:40) A[j]", {}, generic_target("opencl"));
  EXPECT_EQ(written(tested, 0), "");
}

TEST(EachThread, NoBlockIsLargerThanTheDeviceOrItsResults) {
  Target small = generic_target("opencl");
  small.gpu().work_group_size = 32;
  const auto largest = [](const RuleCase& tested) {
    Chooser declaring;
    Decider decider = tested.decider(declaring);
    decide_each_thread(decider, tested.stage(0));
    return std::get<OrderedParameter>(declaring.domain().parameters.front().kind).values.back();
  };
  EXPECT_EQ(largest(RuleCase("C[i:3000] = exp(A[i])", {}, small)), 32);
  EXPECT_EQ(largest(RuleCase("C[i:9] = exp(A[i])", {}, small)), 8);
}

}  // namespace
}  // namespace lathe::testing
