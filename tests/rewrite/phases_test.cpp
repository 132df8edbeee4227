// A transposed convolution by phases gives the convolution's own result, and what only looks like one is
// refused.
#include "rewrite/phases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "rewrite/same_result.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

Trace by_phases() { return {RewriteStep{"phases", "O", {}}}; }

Task task_of_text(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << text << ": " << dag.error().to_string();
  return make_task("phases", *dag, generic_target("x86-avx2")).value();
}

// Over an input of 4 elements in 2 channels, expanded to 7.
std::string convolution(const std::string& expanded, const std::string& type = "f32") {
  return fmt::format(
      "input I[2, 4] {0} input W[2, 3] {0} {1} O[x:7] = sum(c:2, k:3) P[c, x + k] * W[c, 2 - k]", type,
      expanded);
}

TEST(Phases, GiveTheConvolutionsOwnResult) {
  for (const char* expanded :
       {"E[c:2, x:7] = select(x%2 == 0, I[c, x/2], 0) P[c:2, x:9] = select(1 <= x && x < 8, E[c, x - 1], 0)",
        // The last elements are cut off, or the first.
        "P[c:2, x:9] = select((x + 1)%2 == 0 && x >= 1 && x < 8, I[c, (x - 1)/2], 0)",
        "P[c:2, x:9] = select(x%3 == 0, I[c, x/3], 0)",
        "P[c:2, x:9] = select((x + 2)%3 == 0 && x + 2 < 12, I[c, (x + 2)/3], 0)"}) {
    SCOPED_TRACE(expanded);
    for (const char* type : {"f32", "i32", "f64"})
      expect_same(task_of_text(convolution(expanded, type)), by_phases());
  }
}

// Two groups of 2 channels and 3 maps, and one channel a map: the phases leave the channels as they are.
TEST(Phases, TakeGroupsOfChannels) {
  const std::string expanded = "P[c:4, x:9] = select(x%2 == 0 && x < 8, I[c, x/2], 0)";
  for (const char* product :
       {"input W[4, 3, 3] {} O[f:6, x:7] = sum(c:2, k:3) P[f/3*2 + c, x + k] * W[f/3*2 + c, f%3, 2 - k]",
        "input W[4, 3] {} O[f:4, x:7] = sum(c:1, k:3) P[f + c, x + k] * W[f + c, 2 - k]"}) {
    SCOPED_TRACE(product);
    const Task task = task_of_text("input I[4, 4] " + fmt::format(fmt::runtime(product), expanded));
    expect_same(task, by_phases());
  }
  const Task grouped =
      task_of_text("input I[4, 4] input W[4, 3, 3] " + expanded +
                   " O[f:6, x:7] = sum(c:2, k:3) P[f/3*2 + c, x + k] * W[f/3*2 + c, f%3, 2 - k]");
  expect_same(grouped, {RewriteStep{"phases", "O", {}}, RewriteStep{"divided_axis", "O.P", {}}});
}

TEST(Phases, WhatIsNotExpandedByZerosAloneIsRefused) {
  for (const char* expanded :
       {// The elements lie at other places.
        "P[c:2, x:9] = select(x%2 == 1 && x < 8, I[c, x/2], 0)", "P[c:2, x:9] = select(x < 8, I[c, x/2], 0)",
        "P[c:2, x:9] = select(x%4 == 0 && x < 8, I[c, x/2], 0)",
        // Some of them are left out.
        "P[c:2, x:9] = select(x%2 == 0 && x < 5, I[c, x/2], 0)",
        "P[c:2, x:9] = select(x%2 == 0 && x < 8 && c < 1, I[c, x/2], 0)",
        // In another channel.
        "P[c:2, x:9] = select(x%2 == 0 && x < 8, I[1 - c, x/2], 0)"}) {
    const Result<Program> refused = apply_trace(task_of_text(convolution(expanded)), by_phases());
    ASSERT_FALSE(refused) << expanded;
    EXPECT_EQ(
        refused.error().message,
        "phases does not apply to 'O': its input is not expanded by zeros between and around all elements "
        "alone");
  }
  // What lies between them is no zero.
  const std::string fives = "P[c:2, x:9] = select(x%2 == 0 && x < 8, I[c, x/2], 5)";
  for (const char* type : {"f32", "i32"}) {
    const Result<Program> refused = apply_trace(task_of_text(convolution(fives, type)), by_phases());
    ASSERT_FALSE(refused) << type;
    EXPECT_EQ(refused.error().message, "phases does not apply to 'O': its input is not expanded");
  }
}

}  // namespace
}  // namespace lathe::testing
