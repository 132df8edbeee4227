// Seven products of quarters give what one product gives, whatever axes it has.
#include "rewrite/strassen.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

Task task_of(const std::string& text) {
  return make_task("product", parse_dag(text).value(), generic_target("x86-avx2"), {"W"}).value();
}

TEST(Strassen, GivesTheSameResult) {
  for (const char* text : {
           "O[i:6, j:8] = sum(k:4) A[i, k] * W[k, j]",
           "O[i:6, j:8] = sum(k:4) W[k, j] * A[i, k]",
           "O[i:7, j:8] = sum(k:4) A[i, k] * W[k, j]",             // a last row alone
           "O[b:3, i:5, j:6] = sum(k:4) A[b, i, k] * W[b, k, j]",  // of both operands
           "O[b:3, i:5, j:6] = sum(k:4) A[b, i, k] * W[k, j]",     // rows of two axes
           "O[b:3, g:2, i:5, j:6] = sum(h:3, k:4) A[b, i, h, k] * W[g, h, k, j]",
           "O[f:6, y:3, x:5] = sum(c:4, p:3) X[c, y, x + p] * W[f, c, p]",  // a window
           "O[f:6, y:3, x:5] = sum(c:4) W[f, c] * X[c, y, x]",
       }) {
    SCOPED_TRACE(text);
    expect_same(task_of(text), {RewriteStep{"strassen", "O", {}}});
  }
}

TEST(Strassen, IsWrittenAsSumsOfQuarters) {
  const Result<Dag> dag =
      rewrite(parse_dag("O[i:7, j:8] = sum(k:4) A[i, k] * W[k, j]").value(), "strassen", "O", {});
  ASSERT_TRUE(dag) << dag.error().to_string();
  EXPECT_EQ(to_string(*dag), R"(input A[7, 4]
input W[4, 8]
table O.SB[7, 4] = {1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0}
table O.SA[7, 4] = {1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0}
table O.SC[4, 7] = {1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 1.0, 0.0, 0.0, 1.0, 0.0}
O.SW[t:7, k:2, j:4] = sum(q:4) O.SB[t, q] * W[k + 2*(q/2), j + 4*(q%2)]
O.SV[t:7, p:4, k:2] = sum(q:4) O.SA[t, q] * select(2*p + q/2 < 7, A[2*p + q/2, k + 2*(q%2)], 0.0)
O.SM[t:7, p:4, j:4] = sum(k:2) O.SV[t, p, k] * O.SW[t, k, j]
O.SY[p:4, j:4, q:4] = sum(t:7) O.SC[q, t] * O.SM[t, p, j]
O[i:7, j:8] = O.SY[i/2, j%4, j/4 + 2*(i%2)]
)");
}

TEST(Strassen, RefusesWhatCannotBeHalved) {
  for (const char* text : {"O[i:7, j:7] = sum(k:4) A[i, k] * W[k, j]",             // odd features
                           "O[i:6, j:8] = sum(k:3) A[i, k] * W[k, j]",             // odd channels
                           "O[j:8] = sum(k:4) A[k] * W[k, j]",                     // no rows
                           "O[i:6, j:8] = max(k:4) A[i, k] * W[k, j]",             // no sum
                           "O[i:6, j:8] = sum(k:4, l:2) A[i, k] * W[k, j, l]"}) {  // l is in one factor alone
    const Result<Dag> rewritten = rewrite(parse_dag(text).value(), "strassen", "O", {});
    ASSERT_FALSE(rewritten) << text;
    EXPECT_EQ(rewritten.error().message,
              "strassen does not apply to 'O': it is no sum of f32 products of which rows, channels and "
              "features can be halved");
  }
}

// Rows are what weights are read for: of a few there is nothing to gain.
TEST(Strassen, IsTriedWhereItSavesWork) {
  const auto choices = [](const std::string& text) {
    return strassen_choices(parse_dag(text).value(), "O").size();
  };
  EXPECT_EQ(choices("O[i:197, j:3072] = sum(k:768) A[i, k] * W[k, j]"), 1U);
  EXPECT_EQ(choices("O[i:8, j:3072] = sum(k:768) A[i, k] * W[k, j]"), 0U);
  EXPECT_EQ(choices("O[i:197, j:16] = sum(k:16) A[i, k] * W[k, j]"), 0U);
  EXPECT_EQ(choices("O[i:197, j:3071] = sum(k:768) A[i, k] * W[k, j]"), 0U);
  const char* const windows = "O[f:256, y:28, x:28] = sum(c:256, p:3) X[c, y, x + p] * W[f, c, p]";
  EXPECT_EQ(choices(windows), 0U) << "each element would be in sums of three windows";
}

TEST(Strassen, EveryProgramToBeginWithComputesTheSame) {
  const Task task = task_of("Z[i:70, j:64] = sum(k:96) A[i, k] * W[k, j]; O[i:70, j:64] = max(Z[i, j], 0)");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  size_t met = 0;
  for (const Point& point : space->preferred_points()) {
    if (!space->sketches()[static_cast<size_t>(point.sketch)].name.starts_with("strassen")) continue;
    ++met;
    expect_same(task, space->trace(point).value());
  }
  EXPECT_GT(met, 0U);
}

}  // namespace
}  // namespace lathe::testing
