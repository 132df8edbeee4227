#include "space/lathe/arms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "expr/parse.h"
#include "ops/workloads.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Task convolution(const std::string& algorithm = "") {
  const auto workloads = parse_workloads(
      R"([{"name":"c", "op":"conv2d", "batch":1, "height":24, "width":24, "in_channels":16,
           "out_channels":24, "kernel":3, "stride":1, "padding":1}])",
      "test");
  Task task = make_task(workloads->front(), generic_target("x86-avx2"), true).value();
  task.algorithm = algorithm;
  return task;
}

std::set<std::string> arms_of(const std::vector<Plan>& plans) {
  std::set<std::string> arms;
  for (const Plan& plan : plans) arms.insert(plan.arm);
  return arms;
}

TEST(Arms, AConvolutionMayBeComputedInSeveralWays) {
  EXPECT_THAT(arms_of(direct_plans(convolution(), {})), Contains("direct"));
  const std::set<std::string> algorithms = arms_of(algorithm_plans(convolution(), {}));
  EXPECT_THAT(algorithms, Contains(StartsWith("winograd")));
  EXPECT_THAT(algorithms, Contains(StartsWith("im2col")));
  EXPECT_THAT(algorithms, Not(Contains("direct")));
}

TEST(Arms, WhatSpreadsSpecialsIsLeftOutWhereTheyMustStay) {
  EXPECT_THAT(arms_of(algorithm_plans(convolution(kExactSpecials), {})),
              Not(Contains(StartsWith("winograd"))));
}

TEST(Arms, ARequiredAlgorithmAloneIsThere) {
  const RequiredPlans required = required_plans(convolution("winograd"), {}).value();
  EXPECT_EQ(required.rewrite.rule, "winograd");
  EXPECT_THAT(required.plans, Not(IsEmpty()));
  for (const Plan& plan : required.plans) EXPECT_THAT(plan.arm, StartsWith("winograd"));
}

TEST(Arms, WhyARequiredAlgorithmDoesNotApplyIsSaid) {
  Task task = make_task("t", parse_dag("O[i:8] = A[i] + 1.0").value(), generic_target("x86-avx2")).value();
  task.algorithm = "winograd";
  const auto none = required_plans(task, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(none.error().message, StartsWith("the task is to be computed by the algorithm 'winograd': "));
  task.algorithm = "magic";
  EXPECT_EQ(required_plans(task, {}).error().message,
            "the task is to be computed by the algorithm 'magic': there is no rewrite rule 'magic'");
}

TEST(Arms, SumsHaveNoOtherWay) {
  const Task task =
      make_task("t", parse_dag("O[i:8] = A[i] + 1.0").value(), generic_target("x86-avx2")).value();
  EXPECT_THAT(algorithm_plans(task, {}), IsEmpty());
}

}  // namespace
}  // namespace lathe
