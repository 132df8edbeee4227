// A sum over products of three factors gives the same as two sums.
#include "rewrite/factored_sum.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

Task form() {
  return task_of_workload(R"({"name":"b", "op":"bilinear", "batch":5, "out_features":7, "in1_features":6,
                     "in2_features":4})");
}

TEST(FactoredSum, GivesTheSameResult) {
  expect_same(form(), {RewriteStep{"factored_sum", "O", {{"axis", 0}}}});
  expect_same(form(), {RewriteStep{"factored_sum", "O", {{"axis", 1}}}});
}

TEST(FactoredSum, LeavesTwoFactorsInEachSum) {
  const Result<Dag> dag = rewrite(form().dag, "factored_sum", "O", {{"axis", 1}});
  ASSERT_TRUE(dag) << dag.error().to_string();
  ASSERT_EQ(dag->computes.size(), 2u);
  EXPECT_EQ(dag->computes[0].output->shape, (std::vector<int64_t>{5, 7, 6}));
  EXPECT_EQ(to_string(dag->computes[0].body), "W[f, r, s] * Y[b, s]");
  EXPECT_EQ(to_string(dag->computes[1].body), "X[b, r] * O.F[b, f, r]");
  EXPECT_EQ(dag->computes[1].axes.size(), 3u);
}

TEST(FactoredSum, RefusesWhereNothingIsTakenOut) {
  for (const char* text : {"O[i:4, j:4] = sum(r:3, s:2) A[i,r,s] * B[r,s,j]",   // two factors
                           "O[i:4] = sum(r:3) A[i,r] * B[r] * C[r]",            // one axis
                           "O[i:4] = sum(r:3, s:2) A[i,r] * B[r,s] * C[i,r]",   // one factor varies with s
                           "O[i:4] = max(r:3, s:2) A[i,r] * B[r,s] * C[s]"}) {  // no sum
    const Result<Dag> dag = parse_dag(text);
    ASSERT_TRUE(dag) << dag.error().to_string();
    const Result<Dag> rewritten = rewrite(*dag, "factored_sum", "O", {{"axis", 1}});
    ASSERT_FALSE(rewritten) << text;
    EXPECT_EQ(
        rewritten.error().message,
        "factored_sum does not apply to 'O': it is no sum over two axes or more of the product of three "
        "f32 elements or more, of which some, but not one alone, vary with the axis");
  }
}

TEST(FactoredSum, ComesFirstAndComputesTheSame) {
  const Task task =
      task_of_workload(R"({"name":"b", "op":"bilinear", "batch":16, "out_features":24, "in1_features":12,
                                "in2_features":20})");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  const std::vector<Point> preferred = space->preferred_points();
  const Sketch& first = space->sketches()[static_cast<size_t>(preferred.front().sketch)];
  EXPECT_TRUE(first.name.starts_with("factored_sum")) << first.name;
  for (const Point& point : preferred) expect_same(task, space->trace(point).value());
}

}  // namespace
}  // namespace lathe::testing
