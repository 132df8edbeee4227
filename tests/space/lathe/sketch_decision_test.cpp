// A sketch is decided, as a value, and that value alone is written.
#include "space/lathe/sketch_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "space/lathe/arms.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

// A product, what follows it, a stage without reduction, and weights that are prepared.
Task chain() {
  return make_task("t",
                   parse_dag(R"(V[r:16, j:24] = B[r,j] * 2.0
P[i:20, j:24] = sum(r:16) A[i,r] * V[r,j]
O[i:20, j:24] = max(P[i,j], 0.0)
S[i:20] = sum(j:24) O[i,j]
Q[i:20] = S[i] * S[i] + D[i])")
                       .value(),
                   generic_target("x86-avx2"), {"B"}, true)
      .value();
}

std::vector<size_t> kinds_of(const SketchDecision& decision) {
  std::vector<size_t> kinds;
  for (const StageDecision& stage : decision.stages) kinds.push_back(stage.index());
  return kinds;
}

template <class Kind>
size_t index_of() {
  return StageDecision(Kind()).index();
}

TEST(SketchDecision, StagesAreDecidedFromTheOutputsToTheInputs) {
  const Plan plan = direct_plans(chain(), {}).back();
  Chooser chooser;
  const SketchDecision decision = decide_sketch(plan, chooser).value();
  // The product takes what follows it along, as the sum does.
  EXPECT_THAT(kinds_of(decision), ElementsAre(index_of<ReductionDecision>(), index_of<ProductDecision>()));
  EXPECT_THAT(to_string(write_sketch(plan, decision)), EndsWith("prepare V\n"));
}

// Whatever is answered, the same answers give the same decision and trace; writing it twice, too.
TEST(SketchDecision, FollowsFromTheAnswersAlone) {
  Rng rng(3);
  for (const Plan& plan : direct_plans(chain(), {})) {
    Chooser declaring;
    ASSERT_TRUE(decide_sketch(plan, declaring));
    for (int i = 0; i < 20; ++i) {
      const std::vector<int64_t> integers = sample(declaring.domain(), rng);
      Chooser once(declaring.domain(), integers);
      Chooser again(declaring.domain(), integers);
      const auto decision = decide_sketch(plan, once);
      const auto same = decide_sketch(plan, again);
      ASSERT_EQ(decision.has_value(), same.has_value());
      if (!decision) continue;
      const std::string text = to_string(write_sketch(plan, *decision));
      EXPECT_EQ(to_string(write_sketch(plan, *same)), text);
      EXPECT_EQ(to_string(write_sketch(plan, *decision)), text);
    }
  }
}

TEST(SketchDecision, WhatDoesNotGoTogetherIsNamed) {
  const Plan plan = direct_plans(chain(), {}).back();
  Chooser declaring;
  static_cast<void>(decide_sketch(plan, declaring));
  std::vector<int64_t> integers = declaring.preferred();
  for (size_t i = 0; i < declaring.domain().parameters.size(); ++i) {
    const Parameter& parameter = declaring.domain().parameters[i];
    if (parameter.name == "P.rows" || parameter.name == "P.vectors")
      integers[i] = std::ssize(std::get<OrderedParameter>(parameter.kind).values) - 1;
  }
  Chooser replaying(declaring.domain(), integers);
  const auto refused = decide_sketch(plan, replaying);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::illegal_schedule);
}

}  // namespace
}  // namespace lathe
