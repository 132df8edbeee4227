// Whole traces: rewrites first, the algorithm that a task requires, and errors that name their step.
#include "schedule/apply.h"

#include "schedule/golden.h"

namespace lathe::testing {
namespace {

// A window slid over 8 pixels of two channels.
Task convolution(const std::string& algorithm = "") {
  Task task = task_of("O[x:8, f:2] = sum(k:3, c:2) A[x + k, c] * W[k, c, f]", {"W"});
  task.algorithm = algorithm;
  return task;
}

constexpr const char* kWinograd = "rewrite winograd O m=2";

// No step: the naive program, and the same one each time.
TEST(ApplyTrace, NoSteps) {
  const Task task = convolution();
  EXPECT_EQ(to_string(apply_trace(task, {}).value()), to_string(naive_program(task)));
}

// Rewrites change the Dag that the naive program is made of; steps name the new blocks.
TEST(ApplyTrace, RewritesComeFirst) {
  const Task task = convolution();
  const Program program = scheduled(task, std::string(kWinograd) + "; split O x [4]");
  EXPECT_GT(blocks_of(program.main).size(), 1u);
  EXPECT_NE(to_string(program).find("for x.0 in 2"), std::string::npos);
  expect_same_result(naive_program(task), program);
  expect_illegal(task, std::string("split O x [4]; ") + kWinograd, "a rewrite stands before all other steps");
}

// A refused rewrite is located as well.
TEST(ApplyTrace, ARewriteThatIsRefused) {
  expect_illegal(convolution(), "rewrite magic O", "there is no rewrite rule 'magic'");
  expect_illegal(convolution(), "rewrite phases X", "there is no compute 'X' to rewrite");
}

// The first step that is illegal ends the trace.
TEST(ApplyTrace, TheFirstErrorCounts) {
  const Result<Program> program =
      apply_trace(convolution(), steps_of("split O x [4]; unroll O y; split O z [2]"));
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().where, "unroll O y");
  EXPECT_EQ(program.error().message, "block 'O' has no loop 'y'; its loops are x.0, x.1, f, k, c");
}

TEST(ApplyTrace, ARequiredAlgorithm) {
  EXPECT_TRUE(apply_trace(convolution("winograd"), steps_of(kWinograd)).has_value());
  const Result<Program> direct = apply_trace(convolution("winograd"), steps_of("split O x [4]"));
  ASSERT_FALSE(direct.has_value());
  EXPECT_EQ(direct.error().kind, ErrorKind::illegal_schedule);
  EXPECT_EQ(
      direct.error().message,
      "the task is to be computed by the algorithm 'winograd', and no step of the trace rewrites by it");
}

// Where infinities have to stay where they are, an algorithm that cancels is refused.
TEST(ApplyTrace, ExactSpecials) {
  EXPECT_TRUE(spreads_specials(steps_of(kWinograd)));
  EXPECT_FALSE(spreads_specials(steps_of("rewrite im2col O; split O x [4]")));
  EXPECT_FALSE(spreads_specials({}));
  EXPECT_TRUE(apply_trace(convolution(kExactSpecials), steps_of("split O x [4]")).has_value());
  const Result<Program> spreading = apply_trace(convolution(kExactSpecials), steps_of(kWinograd));
  ASSERT_FALSE(spreading.has_value());
  EXPECT_EQ(
      spreading.error().message,
      "a step of the trace rewrites by an algorithm that spreads infinities and NaN, and the task is to "
      "keep them where they belong");
}

// One dimension, one name; of names that meet the later ones are numbered by their dimension.
TEST(SideLoopNames, TheFirstAxisOfEachDimension) {
  const Affine a(Var("a"));
  const Affine b(Var("b"));
  using Names = std::vector<std::string>;
  EXPECT_EQ(side_loop_names({a, b}), (Names{"a", "b"}));
  EXPECT_EQ(side_loop_names({floor_div(a, 2), modulo(a, 2)}), (Names{"a", "a_d1"}));
  EXPECT_EQ(side_loop_names({Affine(0), b * 3 + a, a}), (Names{"d0", "a", "a_d2"}));
  EXPECT_EQ(side_loop_names({}), Names{});
}

}  // namespace
}  // namespace lathe::testing
