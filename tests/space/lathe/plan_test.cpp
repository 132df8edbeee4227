#include "space/lathe/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

using testing::ElementsAre;

Task task_of(const std::string& text) {
  return make_task("t", parse_dag(text).value(), generic_target("x86-avx2"), {"B"}, true).value();
}

std::vector<std::string> names(const std::string& text, int64_t most, const CostConstants& costs = {}) {
  const Task task = task_of(text);
  const Reduced reduced = take_out_inlined(task, task.dag, {}, {}, costs);
  std::vector<std::string> found;
  for (const Plan& plan : plans_of(task, "direct", reduced, most, costs)) found.push_back(plan.name());
  return found;
}

TEST(Plan, ATileOfEachProductIsAPlan) {
  EXPECT_THAT(names("C[i:64, j:64] = sum(r:32) A[i,r] * B[r,j]", 3),
              ElementsAre("direct C vector=j rows=i", "direct C vector=i rows=j"));
  EXPECT_THAT(names("C[i:64, j:64] = sum(r:32) A[i,r] * B[r,j]", 1), ElementsAre("direct C vector=j rows=i"));
  EXPECT_THAT(names("O[i:64] = A[i] + B[i]", 3), ElementsAre("direct"));
}

TEST(Plan, ViewsAreTakenOutAndNamed) {
  const Task task = task_of("V[i:8, j:4] = A[j,i]\nO[i:8, j:4] = V[i,j] + B[i,j]");
  const Reduced reduced = take_out_inlined(task, task.dag, {}, {}, {});
  EXPECT_EQ(reduced.dag.computes.size(), 1u);
  EXPECT_EQ(to_string(reduced.steps), "inline V\n");
  const Reduced kept = take_out_inlined(task, task.dag, {}, {"V"}, {});
  EXPECT_EQ(kept.dag.computes.size(), 2u);
}

TEST(Plan, SumsInTheLanesAreTold) {
  const Task task = task_of("C[i:3, j:3] = sum(r:100000) A[i,r] * B[r,j]");
  const Reduced reduced = take_out_inlined(task, task.dag, {}, {}, {});
  int in_lanes = 0;
  for (const Plan& plan : plans_of(task, "direct", reduced, 3, {}))
    in_lanes += plan.is_sum_in_lanes(0) ? 1 : 0;
  EXPECT_EQ(in_lanes, 1);
}

}  // namespace
}  // namespace lathe
