// A product between two chains of transforms, for groups of their common axis.
#include "space/rules/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "ops/workloads.h"
#include "space/lathe/arms.h"
#include "space/lathe/sketch_decision.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The first plan whose arm is named so.
Plan plan_of(const Task& task, const std::string& arm) {
  for (Plan& plan : algorithm_plans(task, {})) {
    if (plan.arm.starts_with(arm)) return std::move(plan);
  }
  ADD_FAILURE() << "no plan of " << arm;
  return {};
}

// Winograd's way of a small convolution.
Plan winograd(int cores) {
  const auto workloads = parse_workloads(
      R"([{"name":"c", "op":"conv2d", "batch":1, "height":24, "width":24, "in_channels":16,
           "out_channels":24, "kernel":3, "stride":1, "padding":1}])",
      "test");
  return plan_of(make_task(workloads->front(), with_cores(generic_target("x86-avx2"), cores), true).value(),
                 "winograd");
}

// The group's decision, and the trace of the whole sketch, for groups of so many tiles.
std::pair<GroupDecision, std::string> decided(const Plan& plan, std::optional<int64_t> size) {
  Chooser declaring;
  static_cast<void>(decide_sketch(plan, declaring));
  std::vector<int64_t> integers = declaring.preferred();
  const std::vector<Parameter>& parameters = declaring.domain().parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].name.ends_with(".group")) continue;
    const auto& sizes = std::get<OrderedParameter>(parameters[i].kind).values;
    const auto place = size ? std::ranges::find(sizes, *size) : sizes.end() - 1;
    EXPECT_NE(place, sizes.end());
    integers[i] = place - sizes.begin();
  }
  Chooser replaying(declaring.domain(), integers);
  const Result<SketchDecision> sketch = decide_sketch(plan, replaying);
  EXPECT_TRUE(sketch) << sketch.error().to_string();
  for (const StageDecision& stage : sketch->stages) {
    if (const auto* group = std::get_if<GroupDecision>(&stage))
      return {*group, to_string(write_sketch(plan, *sketch))};
  }
  ADD_FAILURE() << "no group";
  return {};
}

TEST(GroupRule, StagesAreComputedForEachGroup) {
  const Plan plan = winograd(1);
  const auto [group, text] = decided(plan, 6);
  EXPECT_EQ(group.size, 6);
  EXPECT_FALSE(group.is_whole);
  EXPECT_EQ(group.producers.size(), 1u);
  EXPECT_TRUE(group.product.is_grouped);
  EXPECT_THAT(text, HasSubstr(".0 scope=thread\n"));
  EXPECT_THAT(text, HasSubstr(" [6]\ncompute_at O.M "));
}

// One group of all: several cores do one stage after another.
TEST(GroupRule, OneGroupIsSharedStageByStage) {
  const auto [group, text] = decided(winograd(2), std::nullopt);
  EXPECT_TRUE(group.is_whole);
  EXPECT_FALSE(group.product.is_grouped);
  EXPECT_THAT(text, Not(HasSubstr("compute_at O.M ")));
  const auto [alone, text_of_one] = decided(winograd(1), std::nullopt);
  EXPECT_FALSE(alone.is_whole) << "one core has nothing to share";
}

// Weights of 33 MB for each group of eleven pairs of rows take a core with two multiply-adds a cycle as long
// as the products do, and are in its way: with one a cycle they are hidden behind them.
TEST(GroupRule, GroupsAreLargeWhereTheOtherOperandComesSlowly) {
  const Dag dag = parse_dag("O[i:197, j:3072] = sum(k:768) A[i, k] * W[k, j]").value();
  const auto size_at = [&dag](int rate) {
    Target target = generic_target("x86-avx512");
    std::get<CpuTarget>(target.kind).fma_per_cycle = rate;
    const Plan plan = plan_of(make_task("product", dag, target, {"W"}).value(), "strassen");
    Chooser declaring;
    const SketchDecision sketch = decide_sketch(plan, declaring).value();
    for (const StageDecision& stage : sketch.stages)
      if (const auto* group = std::get_if<GroupDecision>(&stage)) return group->size;
    ADD_FAILURE() << "no group";
    return int64_t{0};
  };
  const int64_t fast = size_at(2);
  EXPECT_GE(fast, 33);
  EXPECT_LE(size_at(1), fast);
}

// Of 99 pairs of rows in nine groups of eleven one of two cores would have five.
TEST(GroupRule, CoresEndTogether) {
  const Dag dag = parse_dag("O[i:197, j:768] = sum(k:768) A[i, k] * W[k, j]").value();
  for (const int cores : {2, 3, 4}) {
    SCOPED_TRACE(cores);
    const Target target = with_cores(generic_target("x86-avx512"), cores);
    const Plan plan = plan_of(make_task("product", dag, target, {"W"}).value(), "strassen");
    Chooser declaring;
    const SketchDecision sketch = decide_sketch(plan, declaring).value();
    const auto group = std::ranges::find_if(
        sketch.stages, [](const StageDecision& s) { return std::holds_alternative<GroupDecision>(s); });
    ASSERT_NE(group, sketch.stages.end());
    const auto& decision = std::get<GroupDecision>(*group);
    const int64_t rounds = ceil_div(ceil_div(99, decision.size), cores);
    EXPECT_TRUE(decision.is_whole || rounds * decision.size * cores <= 99 * 108 / 100) << decision.size;
  }
}

}  // namespace
}  // namespace lathe::testing
