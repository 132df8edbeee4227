#include "space/flextensor/schedule_for_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/choices.h"
#include "space/flextensor/derive_flextensor.h"
#include "space/flextensor/small_cases.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The trace of the point that has these answers, and for all else what is preferred.
Trace trace_of(const Task& task, const Choices& answers, NodeOrder order = NodeOrder::bottom_up) {
  const Space space = derive_flextensor(task, order).value();
  const Sketch& sketch = space.sketches()[0];
  const auto integers = integers_of(sketch.domain, answers, sketch.preferred);
  EXPECT_TRUE(integers) << "an answer is none of its parameter's values";
  return space.trace({0, *integers}).value();
}

Task padded_convolution() { return task_of_case(kFlextensorCases[6], "x86-avx2", 2, true); }

TEST(ScheduleForGraph, NodesComeInPostOrderAndThenTheGraph) {
  const Task task = padded_convolution();
  const auto with_place = [&](int64_t place) {
    const Trace trace = trace_of(task, {{"I.pad.place", {place}}});
    FlextensorReference(task).expect_same(trace, true);
    return to_string(trace);
  };
  const std::string whole = with_place(0);
  EXPECT_LT(whole.find("reorder I.pad"), whole.find("reorder O"));
  EXPECT_THAT(with_place(1),
              AllOf(HasSubstr("compute_at I.pad O f scope=thread\n"), Not(HasSubstr("inline"))));
  EXPECT_THAT(with_place(2), HasSubstr("compute_at I.pad O x scope=thread\n"));
  EXPECT_THAT(with_place(3), AllOf(HasSubstr("inline I.pad\n"), Not(HasSubstr("compute_at"))));
}

TEST(ScheduleForGraph, TopDownBeginsWithTheGraph) {
  const Task task = padded_convolution();
  const Trace trace = trace_of(task, {{"I.pad.place", {3}}}, NodeOrder::top_down);
  EXPECT_TRUE(to_string(trace).starts_with("inline I.pad\n")) << to_string(trace);
  const std::string whole = to_string(trace_of(task, {}, NodeOrder::top_down));
  EXPECT_LT(whole.find("reorder O"), whole.find("reorder I.pad"));
}

// The same choices in another order make the same program.
TEST(ScheduleForGraph, BothOrdersHaveTheSamePrograms) {
  for (const FlextensorCase& small : kFlextensorCases) {
    const Task task = task_of_case(small, "x86-avx2", 2, true);
    const Space up = derive_flextensor(task, NodeOrder::bottom_up).value();
    const Space down = derive_flextensor(task, NodeOrder::top_down).value();
    EXPECT_EQ(up.size(), down.size());
    Rng rng(3);
    for (int i = 0; i < 10; ++i) {
      const std::vector<int64_t> point = sample(up.sketches()[0].domain, rng);
      const Choices answers = choices_of(up.sketches()[0].domain, point);
      const Result<Trace> written = up.trace({0, point});
      if (!written) continue;
      const auto other = integers_of(down.sketches()[0].domain, answers, down.sketches()[0].preferred);
      ASSERT_TRUE(other);
      const Trace turned = down.trace({0, *other}).value();
      ASSERT_EQ(written->size(), turned.size()) << to_string(*written) << to_string(turned);
      if (i > 1) continue;
      FlextensorReference(task).expect_same(turned, false);
    }
  }
}

// A nest's results go through the activation while they are in registers, or once a part of them is complete.
TEST(ScheduleForGraph, AnActivationTakesResultsWhereTheyAreMade) {
  const Task task = task_of_case(kFlextensorCases[15], "x86-avx2", 2, true);
  const FlextensorReference reference(task);
  const Space space = derive_flextensor(task).value();
  Choices answers;
  for (const Parameter& parameter : space.sketches()[0].domain.parameters) {
    if (parameter.name.ends_with(".unroll")) answers[parameter.name] = {1};
    if (parameter.name.ends_with(".place")) answers[parameter.name] = {3};
  }
  answers["O.conv.place"] = {2};
  const Trace in_registers = trace_of(task, answers);
  EXPECT_THAT(to_string(in_registers), AllOf(HasSubstr("reverse_compute_at O O.conv"),
                                             HasSubstr("scope=registers"), Not(HasSubstr("cache_write"))));
  reference.expect_same(in_registers, true);
  answers["O.conv.place"] = {1};
  answers["O.conv.x"] = {1, 1, 2};
  const Trace later = trace_of(task, answers);
  EXPECT_THAT(to_string(later), AllOf(HasSubstr("reverse_compute_at O O.conv f scope=thread"),
                                      HasSubstr("cache_write O.conv O.conv.acc at=x.0 scope=registers")));
  reference.expect_same(later, true);
}

// What is collected goes through loops j.0 and j.1 of its own, inside of the node's j.0: the activation is
// put into the latter before there are others of that name.
TEST(ScheduleForGraph, LoopsOfOneNameAreNotTakenForEachOther) {
  const Task task =
      make_task("t",
                parse_dag("P[i:4, j:64] = sum(k:8) A[i,k] * B[k,j]\nC[i:4, j:64] = max(P[i,j], 0.0)").value(),
                generic_target("x86-avx2"))
          .value();
  const Trace trace = trace_of(
      task, {{"P.j", {2, 1, 16}}, {"P.k", {2, 1}}, {"P.levels", {2}}, {"P.unroll", {1}}, {"P.place", {2}}});
  EXPECT_THAT(to_string(trace), HasSubstr("reverse_compute_at C P j.0 scope=thread\n"
                                          "split C j [8]\n"
                                          "reorder C i j.0 j.1\n"
                                          "vectorize C j.1\n"
                                          "cache_write P P.acc at=j.1 scope=registers\n"
                                          "split P.acc.in j [8]\n"));
  FlextensorReference(task).expect_same(trace, true);
}

// What pads what is expanded is computed in the convolution's loops, and the expansion there too, but not
// below it.
TEST(ScheduleForGraph, AChainOfIntermediatesIsComputedInOneHost) {
  const Task task = task_of_case(kFlextensorCases[9], "x86-avx2", 1, true);
  const Trace trace =
      trace_of(task, {{"I.expand.pad.place", {1}}, {"I.expand.place", {2}}, {"O.y", {1, 1, 2}}});
  EXPECT_THAT(to_string(trace), AllOf(HasSubstr("compute_at I.expand.pad O f scope=thread\n"),
                                      HasSubstr("compute_at I.expand O f scope=thread\n")));
  FlextensorReference(task).expect_same(trace, true);
}

}  // namespace
}  // namespace lathe::testing
