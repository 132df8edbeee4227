// What vectors may run along: axes, and quotients of axes that are read divided.
#include "analysis/vector_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/walk.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;

Compute last_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  return dag->computes.back();
}

TEST(VectorPart, AnAxisThatMovesByElements) {
  const Compute compute = last_of("O[i:4, j:16] = A[i, j + 1] + B[i]");
  EXPECT_THAT(vector_parts(compute), ElementsAre(VectorPart{0}, VectorPart{1}));
}

TEST(VectorPart, QuotientsWhereAnAxisIsReadDivided) {
  // Each row of a block has the block's mean, turned by the row's place in it.
  const Compute spread = last_of("O[i:32, j:24] = M[i/8, 8*(j/8) + (j - i)%8]");
  EXPECT_THAT(vector_parts(spread), ElementsAre(VectorPart{0, 8}, VectorPart{1, 8}));
  const Compute mean = last_of("M[i:4, j:24] = sum(k:8) A[8*i + k, 8*(j/8) + (j + k)%8]");
  EXPECT_THAT(vector_parts(mean), ElementsAre(VectorPart{0}, VectorPart{1, 8}));
}

TEST(VectorPart, AStepOfWholeBlocksMovesByQuotients) {
  const Compute pool = last_of("O[i:8] = max(k:2) A[2*i + k]");
  const Load* read = pool.body.as<Load>();
  ASSERT_NE(read, nullptr);
  const auto step = vector_step(pool, *read, {0});
  ASSERT_TRUE(step && step->dim);
  EXPECT_EQ(step->divisor, 2);
  // A window that is longer than its step reaches into the next block.
  const Compute window = last_of("O[i:8] = max(k:3) A[2*i + k]");
  EXPECT_FALSE(vector_step(window, *window.body.as<Load>(), {0}));
}

TEST(VectorPart, NotAlongWhatChoosesPlaces) {
  const Compute shift = last_of("input I[10, 16]\ninput s[16] i32\nO[h:8, c:16] = I[h + s[c], c]");
  EXPECT_THAT(vector_parts(shift), ElementsAre(VectorPart{0}));
}

TEST(VectorPart, AnIndexIsAVariableOrAPartOfOne) {
  const Var x("x");
  EXPECT_EQ(index_part(x)->kind, AtomKind::variable);
  const auto remainders = index_part(modulo(x, 6));
  ASSERT_TRUE(remainders);
  EXPECT_EQ(remainders->axis, x);
  EXPECT_EQ(remainders->kind, AtomKind::modulo);
  EXPECT_EQ(remainders->divisor, 6);
  EXPECT_EQ(index_part(floor_div(x, 6))->kind, AtomKind::floor_div);
  EXPECT_FALSE(index_part(Affine(x) + 1));
  EXPECT_FALSE(index_part(Affine(x) * 2));
  EXPECT_FALSE(index_part(modulo(Affine(x) + 1, 6)));
  EXPECT_FALSE(index_part(Affine(x) + Affine(Var("y"))));
}

TEST(VectorPart, TheLayoutEndsWithTheQuotients) {
  const Tensor tensor("A", {4, 24, 3});
  const Layout layout = with_quotients_last(tensor, 1, 8);
  EXPECT_EQ(to_string(layout), "[0][2][1%8][1/8]");
  EXPECT_TRUE(verify(layout, tensor->shape));
  EXPECT_EQ(to_string(with_quotients_last(tensor, 1, 1)), "[0][2][1]");
}

// A quotient's neighbour lies in the next block.
TEST(VectorPart, AShiftThatLeavesTheBlockIsNoStep) {
  const Compute inside = last_of("input A[20]\nO[i:16] = A[4*(i/4)] + B[i/4]");
  const Compute beyond = last_of("input A[20]\nO[i:16] = A[i + 1] + B[i/4]");
  EXPECT_THAT(vector_parts(inside), ElementsAre(VectorPart{0, 4}));
  EXPECT_FALSE(vector_step(beyond, *loads_of(beyond.body)[0], {0, 4}));
}

}  // namespace
}  // namespace lathe::testing
