// What a sketch asks is what it declared, whatever was answered before, and the model's own answers are legal
// and good: mended cases, each of a Dag whose shape once broke that.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/all.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Task expression(const std::string& text, const std::string& constants = "") {
  return task_of_workload(R"({"name":"e", "op":"expression", "constants":[)" + constants + R"(], "text":")" +
                          text + "\"}");
}

// Writes every sketch with random answers; what asks for more or less than was declared throws.
void expect_answers_fit(const Task& task) {
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  EXPECT_FALSE(space->preferred_points().empty());
  Rng rng(11);
  for (size_t s = 0; s < space->sketches().size(); ++s) {
    for (int i = 0; i < 24; ++i) {
      const Point point{static_cast<int>(s), sample(space->sketches()[s].domain, rng)};
      EXPECT_NO_THROW({
        const Result<Trace> trace = space->trace(point);
        if (trace && i < 4) expect_same(task, *trace);
      }) << space->sketches()[s].name;
    }
  }
}

std::string first_text(const Task& task) {
  const Result<Space> space = derive_space(task);
  EXPECT_TRUE(space) << space.error().to_string();
  return to_string(space->trace(space->preferred_points().front()).value());
}

// The rows that run together are those of the batch, which the product's tile does not have.
TEST(Answers, DoNotDependOnHowManyRowsRunTogether) {
  expect_answers_fit(
      expression(R"(S[b:2, i:8, f:24] = sum(k:16) X[b,i,k] * W[k,f]\nM[b:2] = sum(i:8, f:24) S[b,i,f]\n)"
                 R"(O[b:2, i:8, f:24] = S[b,i,f] - M[b])"));
}

// The norm is known before the product, whose results it divides as they are made.
TEST(Answers, StagesInRowsAreWrittenWhereAProductTakesTheLastAlong) {
  const Task task = expression(
      R"(E[i:12, j:20] = exp(X[i,j])\nZ[i:12] = sum(j:20) E[i,j]\nR[i:12, d:16] = sum(j:20) E[i,j] * V[j,d]\n)"
      R"(O[i:12, d:16] = R[i,d] / Z[i])");
  EXPECT_THAT(first_text(task), HasSubstr("vectorize R"));
  expect_answers_fit(task);
}

TEST(Answers, TheBodyOfAWideWindowIsNotTooLarge) {
  for (const int width : {30, 56, 64}) {
    Task task =
        task_of_workload(R"({"name":"d", "op":"depthwise_conv2d", "batch":1, "height":12, "channels":16,
                            "kernel":9, "stride":1, "padding":4, "width":)" +
                         std::to_string(width) + "}");
    task.target = generic_target("x86-avx512");
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space);
    EXPECT_FALSE(space->preferred_points().empty()) << width;
  }
}

// No pass of its own makes the border that a transform reads.
TEST(Answers, ATransformReadsThePaddedImageItself) {
  EXPECT_THAT(first_text(task_of_workload(R"({"name":"c", "op":"conv2d", "batch":1, "height":56, "width":56,
                                     "in_channels":64, "out_channels":64, "kernel":3, "stride":1, "padding":1})")),
              AllOf(HasSubstr("rewrite winograd O"), HasSubstr("inline I.pad")));
  expect_answers_fit(task_of_workload(R"({"name":"c", "op":"conv2d", "batch":3, "height":11, "width":14,
                                 "in_channels":3, "out_channels":18, "kernel":3, "stride":1, "padding":1})"));
}

// What a transform adds and subtracts at last needs no memory before.
TEST(Answers, PairsOfATransformStayInRegisters) {
  EXPECT_THAT(first_text(task_of_workload(R"({"name":"c", "op":"conv2d", "batch":1, "height":56, "width":56,
                                     "in_channels":64, "out_channels":64, "kernel":3, "stride":1, "padding":1})")),
              AllOf(HasSubstr("compute_at O.VP1 O.V1 b scope=registers"),
                    HasSubstr("compute_at O.VP O.V i scope=registers"),
                    HasSubstr("compute_at O.YP1 O.Y1 j scope=registers")));
  EXPECT_THAT(
      first_text(task_of_workload(R"({"name":"c", "op":"conv1d", "batch":1, "length":240, "in_channels":64,
                             "out_channels":64, "kernel":3, "stride":1, "padding":1})")),
      AllOf(HasSubstr("pairs=1"), HasSubstr("compute_at O.YP O.Y f.0 scope=registers")));
}

// One tile alone, a window in parts, a dilated one, one of three dimensions; by one core and two.
TEST(Answers, PairsOfATransformGiveTheSameResult) {
  EXPECT_THAT(
      first_text(task_of_workload(R"({"name":"c", "op":"conv1d", "batch":1, "length":4, "in_channels":64,
                                     "out_channels":64, "kernel":3, "stride":1, "padding":1})")),
      Not(HasSubstr("VP.acc")));
  const std::string rest = R"("in_channels":3, "out_channels":18, "stride":1, )";
  const std::vector<std::string> windows = {
      R"("op":"conv1d", "batch":1, "length":4, "kernel":3, "padding":1)",
      R"("op":"conv1d", "batch":2, "length":23, "kernel":9, "padding":4)",
      R"("op":"conv2d", "batch":1, "height":9, "width":12, "kernel":3, "padding":2, "dilation":2)",
      R"("op":"conv3d", "batch":1, "depth":4, "height":5, "width":6, "kernel":3, "padding":1)"};
  for (const std::string& fields : windows) {
    for (const int cores : {1, 2}) {
      Task task = task_of_workload(fmt::format(R"({{"name":"c", {}{}}})", rest, fields));
      task.target.cpu().cores = cores;
      const Result<Space> space = derive_space(task);
      ASSERT_TRUE(space) << space.error().to_string();
      for (const Point& point : space->preferred_points()) expect_same(task, space->trace(point).value());
    }
  }
}

// Telling another core takes longer than such a stage does; one of exponentials is worth it sooner.
TEST(Answers, WhatOneCoreDoesInAMomentIsNotShared) {
  const auto text_on_two = [](const std::string& text) {
    Task task = expression(text);
    task.target.cpu().cores = 2;
    return first_text(task);
  };
  EXPECT_THAT(text_on_two("O[i:37, j:41] = A[i,j] + A[i,j+1] + A[i+1,j]"), Not(HasSubstr("parallel")));
  EXPECT_THAT(text_on_two("O[i:37] = sum(k:29) A[k,i]"), Not(HasSubstr("parallel")));
  EXPECT_THAT(text_on_two("O[i:37, j:41] = exp(A[i,j])"), HasSubstr("parallel"));
  EXPECT_THAT(text_on_two("O[i:370, j:410] = A[i,j] + A[i,j+1] + A[i+1,j]"), HasSubstr("parallel"));
}

// Tiles of more results than the remainders of the divided axis were among the first tried, and illegal.
TEST(Answers, TilesAreNoLargerThanADividedAxis) {
  const Task task =
      expression("input I[5, 15] O[f:8, x:6] = sum(c:3, k:3) I[c + f/4, 2*x + k] * C[f + c, k]", R"("C")");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  for (const Point& point : space->preferred_points()) expect_same(task, space->trace(point).value());
}

// Along an axis that the image does not have its transform is no part of a group.
TEST(Answers, ATransformThatRepeatsAlongTheTilesIsNoPartOfAGroup) {
  expect_answers_fit(
      expression("input I[1, 2, 8, 8] O[n:1, f:6, y:2, x:3] = "
                 "sum(c:2, a:3, b:2) I[n, c, y + a, n + b] * W[f, c + a, b]",
                 R"("W")"));
}

// Each group of the twelve tiles would fetch all of the filters.
TEST(Answers, CoresShareTheStagesOfAWinogradOfFewTiles) {
  Task task = task_of_workload(R"({"name":"t", "op":"conv2d_transpose", "batch":1, "height":14, "width":14,
                          "in_channels":1024, "out_channels":512, "kernel":3, "stride":1, "padding":1})");
  task.target.cpu().cores = 2;
  EXPECT_THAT(first_text(task),
              AllOf(HasSubstr("rewrite winograd O"), Not(HasSubstr("compute_at O.M ")),
                    HasSubstr("parallel O.M "), HasSubstr("parallel O.V "), HasSubstr("parallel O.Y ")));
  Task small = task_of_workload(R"({"name":"t", "op":"conv2d", "batch":1, "height":7, "width":6,
                           "in_channels":12, "out_channels":24, "kernel":3, "stride":1, "padding":1})");
  small.target.cpu().cores = 2;
  expect_answers_fit(small);
}

// Its output is in no cache any more when it is written again.
TEST(Answers, AnImageThatNoCacheHoldsIsWalkedByRowsAndWrittenToMemory) {
  for (const int cores : {1, 2}) {
    Task task = task_of_workload(R"({"name":"d", "op":"depthwise_conv2d", "batch":3, "height":9, "width":10,
                            "channels":24, "kernel":3, "stride":2, "padding":1})");
    task.target.cpu().cores = cores;
    EXPECT_THAT(first_text(task), AllOf(HasSubstr("layout O [0][1/8][2][3][1%8]"), Not(HasSubstr("stream"))));
    task.target.cpu().l2.bytes = 4096;
    task.target.cpu().l3.bytes = 8192;
    EXPECT_THAT(first_text(task), AllOf(HasSubstr("layout I [0][2][1/8][3][1%8]"),
                                        HasSubstr("layout O [0][2][1/8][3][1%8]"), HasSubstr("stream O")));
    expect_answers_fit(task);
    task.runs_cold = true;
    task.target.cpu().l3.bytes = 16384;
    EXPECT_THAT(first_text(task), Not(HasSubstr("stream O"))) << "who reads it finds it in the cache";
  }
}

// The epilogue of a tile is computed at the tile's own loop, which is no part of the parallel one.
TEST(Answers, AnEpilogueIsLegalHoweverManyLoopsAreParallel) {
  for (const std::string fields :
       {R"("op":"conv2d_bn_relu", "batch":3, "height":9, "width":7, "in_channels":5, "out_channels":11,
           "stride":2)",
        R"("op":"conv3d", "batch":2, "depth":3, "height":4, "width":4, "in_channels":8, "out_channels":24,
           "stride":1)"}) {
    Task task = task_of_workload(R"({"name":"c", "kernel":3, "padding":1, )" + fields + "}");
    task.target.cpu().cores = 2;
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space);
    Rng rng(3);
    for (size_t s = 0; s < space->sketches().size(); ++s) {
      for (int i = 0; i < 200; ++i) {
        const auto trace = space->trace({static_cast<int>(s), sample(space->sketches()[s].domain, rng)});
        if (!trace) continue;
        const auto program = apply_trace(task, *trace);
        ASSERT_TRUE(program) << program.error().to_string() << "\n" << to_string(*trace);
      }
    }
  }
}

// Of 16 x 16 x 16 taps one adds something.
TEST(Answers, WhatMultipliesMostlyZerosIsNotTried) {
  const Task task =
      task_of_workload(R"({"name":"t", "op":"conv3d_transpose", "batch":1, "depth":2, "height":2,
                                "width":2, "in_channels":8, "out_channels":8, "kernel":16, "stride":16,
                                "padding":0})");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  EXPECT_FALSE(space->sketches().empty());
  for (const Sketch& sketch : space->sketches()) EXPECT_THAT(sketch.name, Not(HasSubstr("flat_places O.G ")));
}

// Six sums in one row; seven rows of them would not stay in registers.
TEST(Answers, SumsInTheLanesStayInRegisters) {
  const Task task = task_of_workload(R"({"name":"l", "op":"matmul", "batch":1, "m":7, "n":6, "k":2048})");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  for (size_t s = 0; s < space->sketches().size(); ++s) {
    const Sketch& sketch = space->sketches()[s];
    if (sketch.name != "direct C vector=r") continue;
    const std::string text = to_string(space->trace({static_cast<int>(s), sketch.preferred}).value());
    EXPECT_THAT(text, AllOf(HasSubstr("split C.rf.rf j [6]"), HasSubstr("split C.rf.rf i [1]")));
    return;
  }
  FAIL() << "no sum in the lanes";
}

// What takes the results of sums in the lanes is a stage of its own, with vectors of its own.
TEST(Answers, WhatFollowsSumsInTheLanesHasVectors) {
  const Task task =
      expression(R"(s[n:2, c:16] = sum(k:1040) W[c,k] * h[n,k]\nO[n:2, c:16, y:40] = s[n,c] * Y[n,c,y])");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  for (const Point& point : space->preferred_points())
    EXPECT_THAT(to_string(space->trace(point).value()), HasSubstr("vectorize O"));
  expect_answers_fit(task);
}

// Two products of the same matrix, each with a copy of its own.
TEST(Answers, ProductsInTheLanesHaveCopiesOfTheirOwn) {
  expect_answers_fit(
      expression(R"(P[i:3, j:3] = sum(r:1040) A[i,r] * W[r,j]\nQ[i:3, j:3] = sum(r:1040) B[i,r] * W[r,j]\n)"
                 R"(O[i:3, j:3] = P[i,j] + Q[i,j])",
                 R"("W")"));
}

}  // namespace
}  // namespace lathe::testing
