#include "space/lathe/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

Task task_of(const std::string& text, const std::vector<std::string>& constants = {"B"}) {
  return make_task("t", parse_dag(text).value(), generic_target("x86-avx2"), constants, true).value();
}

std::vector<std::string> names(const std::string& text, int64_t most, const CostConstants& costs = {},
                               const std::vector<std::string>& constants = {"B"}) {
  const Task task = task_of(text, constants);
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

// A product of a matrix and a vector has no rows to tile.
TEST(Plan, ATileWithoutRowsIsNamedByItsVectorsAlone) {
  EXPECT_THAT(names("y[i:512] = sum(r:64) B[i,r] * x[r]", 1), ElementsAre("direct y vector=i"));
}

// All choices of one product with the first of the other, then with its second.
TEST(Plan, TilesOfSeveralProductsAreCombined) {
  const char* const chain =
      "C[i:64, j:64] = sum(r:32) A[i,r] * B[r,j]\nD[i:64, k:64] = sum(j:64) C[i,j] * E[j,k]";
  EXPECT_THAT(names(chain, 2), ElementsAre("direct C vector=j rows=i D vector=i rows=k",
                                           "direct C vector=i rows=j D vector=i rows=k",
                                           "direct C vector=j rows=i D vector=k rows=i",
                                           "direct C vector=i rows=j D vector=k rows=i"));
  EXPECT_THAT(names(chain, 1), ElementsAre("direct C vector=j rows=i D vector=i rows=k"));
  CostConstants few;
  few.most_sketches = 3;
  EXPECT_EQ(names(chain, 2, few).size(), 3U);
}

const char* const kSoftmax =
    "S[h:3, i:16, j:24] = sum(d:8) Q[h,i,d] * K[h,j,d]\n"
    "M[h:3, i:16] = max(j:24) S[h,i,j]\n"
    "E[h:3, i:16, j:24] = exp(S[h,i,j] - M[h,i])\n"
    "T[h:3, i:16] = sum(j:24) E[h,i,j]\n"
    "O[h:3, i:16, j:24] = E[h,i,j] / T[h,i]";

// Stages that share rows are planned together first, and then each alone.
TEST(Plan, StagesInRowsComeFirst) {
  const std::vector<std::string> found = names(kSoftmax, 2, {}, {});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "direct in rows S vector=j rows=i") << "vectors along the rows would cross them";
  EXPECT_THAT(found, ::testing::Contains("direct S vector=j rows=i"));
  EXPECT_THAT(found, ::testing::Contains("direct S vector=i rows=j"));
}

TEST(Plan, RowsAreKnownToThePlanThatRunsThem) {
  const Task task = task_of(kSoftmax, {});
  const Reduced reduced = take_out_inlined(task, task.dag, {}, {}, {});
  const std::vector<Plan> plans = plans_of(task, "direct", reduced, 2, {});
  ASSERT_EQ(plans.size(), 3U);
  ASSERT_EQ(plans[0].rows.size(), 1U);
  EXPECT_EQ(plans[0].rows[0].last, 4U);
  EXPECT_TRUE(plans[1].rows.empty());
}

// A product writes what follows it point by point where it is made, but where the loops of that hold the
// product.
TEST(Plan, TheLastStageOfRowsIsNoEpilogue) {
  const Task task = task_of(
      "S[i:16, j:24] = sum(d:8) Q[i,d] * K[j,d]\n"
      "E[i:16, j:24] = exp(S[i,j])\n"
      "T[i:16] = sum(j:24) E[i,j]\n"
      "R[i:16, v:8] = sum(j:24) E[i,j] * V[j,v]\n"
      "O[i:16, v:8] = R[i,v] / T[i]",
      {});
  const std::vector<Plan> plans =
      plans_of(task, "direct", take_out_inlined(task, task.dag, {}, {}, {}), 2, {});
  ASSERT_EQ(plans.size(), 5U);
  EXPECT_EQ(plans[0].name(), "direct in rows S vector=j rows=i R vector=v rows=i")
      << "of other tiles vectors run along the rows, or the rows are not the same";
  EXPECT_FALSE(plans[0].reduced.classified.of(3).epilogue);
  EXPECT_EQ(plans[0].reduced.classified.of(0).epilogue, 1U) << "inside the rows";
  EXPECT_EQ(plans[1].reduced.classified.of(3).epilogue, 4U);
}

// Of views of views each is taken out, the first of them first; what is read twice as it is elsewhere stays.
TEST(Plan, ViewsOfViewsAreTakenOutOneByOne) {
  const Task task = task_of("V[i:8, j:4] = A[j,i]\nW[i:8, j:4] = V[7 - i, j]\nO[i:8, j:4] = W[i,j] * B[i,j]");
  const Reduced reduced = take_out_inlined(task, task.dag, {}, {}, {});
  EXPECT_EQ(to_string(reduced.steps), "inline V\ninline W\n");
  EXPECT_EQ(reduced.dag.computes.size(), 1U);
  const Reduced half = take_out_inlined(task, task.dag, {}, {"W"}, {});
  EXPECT_EQ(to_string(half.steps), "inline V\n");
  EXPECT_EQ(half.classified.stages.size(), 2U);
}

TEST(Plan, StepsBeforeAreKept) {
  const Task task = task_of("V[i:8, j:4] = A[j,i]\nO[i:8, j:4] = V[i,j] + B[i,j]");
  const Reduced reduced = take_out_inlined(task, task.dag, {PrepareStep{"X"}}, {}, {});
  EXPECT_EQ(to_string(reduced.steps), "prepare X\ninline V\n");
}

TEST(Plan, NoTileIsASumInTheLanesWhereTheReductionIsShort) {
  const Task task = task_of("C[i:64, j:64] = sum(r:32) A[i,r] * B[r,j]");
  const Reduced reduced = take_out_inlined(task, task.dag, {}, {}, {});
  for (const Plan& plan : plans_of(task, "direct", reduced, 8, {})) {
    EXPECT_FALSE(plan.is_sum_in_lanes(0)) << plan.name();
    EXPECT_FALSE(plan.is_sum_in_lanes(7)) << "no such stage";
  }
}

}  // namespace
}  // namespace lathe
