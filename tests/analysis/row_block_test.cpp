// Which stages run together for a block of rows, and that they compute what they did apart.
#include "analysis/row_block.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "expr/parse.h"
#include "rewrite/same_result.h"
#include "space/all.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

std::vector<RowBlock> blocks_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  const Task task = make_task("t", *dag, generic_target("x86-avx2")).value();
  return row_blocks_of(*dag, classify(task, *dag));
}

TEST(RowBlock, SoftmaxRunsTogetherWithTheProductThatItReads) {
  const std::vector<RowBlock> blocks = blocks_of(R"(S[h:3, i:16, j:24] = sum(d:8) Q[h,i,d] * K[h,j,d]
M[h:3, i:16] = max(j:24) S[h,i,j]
E[h:3, i:16, j:24] = exp(S[h,i,j] - M[h,i])
T[h:3, i:16] = sum(j:24) E[h,i,j]
O[h:3, i:16, j:24] = E[h,i,j] / T[h,i])");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].last, 4u);
  EXPECT_THAT(blocks[0].members, ElementsAre(0u, 1u, 2u, 3u));
  for (const auto& [stage, axes] : blocks[0].axes) EXPECT_THAT(axes, ElementsAre(0u, 1u)) << stage;
}

// The values are read whole in every row, as the keys are.
TEST(RowBlock, AttentionRunsTogetherFromTheScoresToTheResult) {
  const std::vector<RowBlock> blocks = blocks_of(R"(S[h:3, i:16, j:24] = sum(d:8) Q[h,i,d] * K[h,j,d]
M[h:3, i:16] = max(j:24) S[h,i,j]
E[h:3, i:16, j:24] = exp(S[h,i,j] - M[h,i])
T[h:3, i:16] = sum(j:24) E[h,i,j]
W[h:3, j:24, v:8] = exp(V[h,j,v])
R[h:3, i:16, v:8] = sum(j:24) E[h,i,j] * W[h,j,v]
O[i:16, h:3, v:8] = R[h,i,v] / T[h,i])");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].last, 6u);
  EXPECT_THAT(blocks[0].members, ElementsAre(0u, 1u, 2u, 3u, 5u));
  EXPECT_THAT(blocks[0].axes.at(6), ElementsAre(0u, 1u));
  EXPECT_THAT(blocks[0].axes.at(0), ElementsAre(1u, 0u));
}

TEST(RowBlock, WhatIsReadWholeInEveryRowStaysOutside) {
  // The scale has no rows: made for each block, it would be made again and again.
  const std::vector<RowBlock> blocks = blocks_of(R"(B[j:24] = sum(r:8) A[r,j]
X[i:16, j:24] = A2[i,j] * B[j]
M[i:16] = max(j:24) X[i,j]
O[i:16, j:24] = X[i,j] - M[i])");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_THAT(blocks[0].members, ElementsAre(1u, 2u));
}

TEST(RowBlock, ElementWiseWorkBehindAProductIsNone) {
  EXPECT_TRUE(blocks_of(R"(C[i:16, j:24] = sum(r:8) A[i,r] * B[r,j]
O[i:16, j:24] = max(C[i,j] + b[j], 0.0))")
                  .empty());
  EXPECT_TRUE(blocks_of(R"(S[i:16] = sum(j:24) A[i,j] * A[i,j]
O[i:16] = sqrt(S[i]))")
                  .empty());
}

TEST(RowBlock, NothingRunsTogetherWhereVectorsWouldCrossRows) {
  // Softmax over the first axis: the last, along which vectors run, is one of the rows.
  EXPECT_TRUE(blocks_of(R"(M[j:24] = max(i:16) X[i,j]
E[i:16, j:24] = exp(X[i,j] - M[j])
T[j:24] = sum(i:16) E[i,j]
O[i:16, j:24] = E[i,j] / T[j])")
                  .empty());
}

// The model's own choice, and others at random.
void expect_same_in_rows(Task task) {
  for (const int cores : {1, 2}) {
    task.target.cpu().cores = cores;
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space);
    const Sketch& first = space->sketches()[static_cast<size_t>(space->preferred_points().front().sketch)];
    EXPECT_TRUE(first.name.starts_with("direct in rows")) << first.name;
    int checked = 0;
    Rng rng(5);
    for (size_t s = 0; s < space->sketches().size(); ++s) {
      const Sketch& sketch = space->sketches()[s];
      if (!sketch.name.starts_with("direct in rows")) continue;
      for (int i = 0; i < 6; ++i) {
        const Point point{static_cast<int>(s), i == 0 ? sketch.preferred : sample(sketch.domain, rng)};
        const Result<Trace> trace = space->trace(point);
        if (!trace) continue;
        expect_same(task, *trace);
        ++checked;
      }
    }
    EXPECT_GE(checked, 3);
  }
}

// With extents that nothing divides.
TEST(RowBlock, ComputesTheSame) {
  expect_same_in_rows(
      task_of_workload(R"({"name":"t", "op":"transpose_batch_matmul_softmax", "batch":2, "sequence":19,
                          "heads":3, "head_dim":5})"));
}

struct Attention {
  int heads = 1;
  int queries = 1;
  int keys = 1;
  int width = 1;
  int values = 1;
};

class AttentionInRows : public ::testing::TestWithParam<Attention> {};

TEST_P(AttentionInRows, ComputesTheSame) {
  const Attention& a = GetParam();
  const std::string text = fmt::format(
      R"(S[h:{0}, i:{1}, j:{2}] = sum(d:{3}) Q[h,i,d] * K[h,d,j]
C[h:{0}, i:{1}, j:{2}] = S[h,i,j] * 0.5 + B[i,j]
M[h:{0}, i:{1}] = max(j:{2}) C[h,i,j]
E[h:{0}, i:{1}, j:{2}] = exp(C[h,i,j] - M[h,i])
T[h:{0}, i:{1}] = sum(j:{2}) E[h,i,j]
P[h:{0}, i:{1}, j:{2}] = E[h,i,j] / T[h,i]
R[h:{0}, i:{1}, v:{4}] = sum(j:{2}) P[h,i,j] * V[h,j,v]
O[i:{1}, h:{0}, v:{4}] = R[h,i,v])",
      a.heads, a.queries, a.keys, a.width, a.values);
  const Result<Dag> dag = parse_dag(text);
  ASSERT_TRUE(dag) << dag.error().to_string();
  expect_same_in_rows(make_task("t", *dag, generic_target("x86-avx2")).value());
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionInRows,
                         ::testing::Values(Attention{2, 19, 19, 8, 8}, Attention{3, 7, 33, 5, 11},
                                           Attention{1, 40, 17, 16, 3}, Attention{2, 16, 16, 12, 16}));

}  // namespace
}  // namespace lathe::testing
