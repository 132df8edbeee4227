// Grouped and depthwise convolutions give the same result with their channel axis as two.
#include "rewrite/divided_axis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "expr/print.h"
#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

Task grouped() {
  return task_of_workload(R"({"name":"g", "op":"conv2d", "batch":2, "height":5, "width":4, "in_channels":6,
                     "out_channels":12, "kernel":3, "stride":2, "padding":1, "groups":3})");
}

Task depthwise(int multiplier) {
  return task_of_workload(
      R"({"name":"d", "op":"depthwise_conv2d", "batch":1, "height":5, "width":5, "channels":3,
                     "kernel":3, "stride":1, "padding":1, "multiplier":)" +
      std::to_string(multiplier) + "}");
}

Trace divided() { return {RewriteStep{"divided_axis", "O", {}}}; }

TEST(DividedAxis, GivesTheSameResult) {
  expect_same(grouped(), divided());
  expect_same(depthwise(2), divided());
}

TEST(DividedAxis, LeavesNoDivisionInTheProduct) {
  const Result<Dag> dag = rewrite_divided_axis(grouped().dag, "O", {});
  ASSERT_TRUE(dag) << dag.error().to_string();
  const auto product =
      std::ranges::find(dag->computes, "O.D",
                        [](const Compute& compute) -> const std::string& { return compute.output->name; });
  ASSERT_NE(product, dag->computes.end());
  EXPECT_EQ(product->output->shape, (std::vector<int64_t>{2, 3, 4, 3, 2}));
  EXPECT_EQ(to_string(product->body).find('/'), std::string::npos) << to_string(product->body);
  EXPECT_EQ(to_string(product->body).find('%'), std::string::npos) << to_string(product->body);
}

TEST(DividedAxis, RefusesWhereNothingIsDivided) {
  const Result<Dag> dag = rewrite_divided_axis(depthwise(1).dag, "O", {});
  ASSERT_FALSE(dag);
  EXPECT_EQ(
      dag.error().message,
      "divided_axis does not apply to 'O': it reduces nothing, or reads no axis divided by one constant "
      "alone, which divides its extent");
}

TEST(DividedAxis, AParameterIsRefused) {
  const Result<Dag> dag = rewrite(grouped().dag, "divided_axis", "O", {{"m", 4}});
  ASSERT_FALSE(dag);
  EXPECT_EQ(dag.error().message, "rewrite divided_axis has no parameter 'm'");
}

// Where the user has taken the names that the rule would give, the space does without it.
TEST(DividedAxis, TakenNamesGiveNoSketch) {
  for (const char* text : {"O[n:2, f:12, fq:5] = sum(c:3) X[n, f/4, c, fq] * W[f, c]",
                           "O[f:12, y:5] = sum(fr:3) X[f/4, fr, y] * W[f, fr]",
                           "O[f:12, y:5] = sum(c:3) X[f/4, c, y] * O.D0[f, c]"}) {
    const Task task =
        task_of_workload(R"({"name":"e", "op":"expression", "text":")" + std::string(text) + "\"}");
    const Result<Dag> dag = rewrite(task.dag, "divided_axis", "O", {});
    ASSERT_FALSE(dag) << text;
    EXPECT_TRUE(dag.error().message.ends_with("which is taken")) << dag.error().message;
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space) << space.error().to_string();
    for (const Point& point : space->preferred_points()) {
      const Result<Trace> trace = space->trace(point);
      ASSERT_TRUE(trace) << trace.error().to_string();
      expect_same(task, *trace);
    }
  }
}

// The space has a way that fills vectors with a group's maps.
TEST(DividedAxis, GroupedConvolutionsGetTiles) {
  const Result<Space> space = derive_space(grouped());
  ASSERT_TRUE(space) << space.error().to_string();
  const auto tiled = std::ranges::find(space->sketches(), "divided_axis O.D vector=fr rows=y", &Sketch::name);
  ASSERT_NE(tiled, space->sketches().end());
  const Result<Trace> trace =
      space->trace({static_cast<int>(tiled - space->sketches().begin()), tiled->preferred});
  ASSERT_TRUE(trace) << trace.error().to_string();
  expect_same(grouped(), *trace);
}

}  // namespace
}  // namespace lathe::testing
