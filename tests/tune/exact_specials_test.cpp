#include "tune/exact_specials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "codegen/machine.h"
#include "expr/parse.h"
#include "lower/lower.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

Task task_of(const std::string& text) {
  return make_task("task", parse_dag(text).value(), with_cores(detect_target().value(), 1)).value();
}

Task convolution() {
  return task_of(
      R"(P[c:16, y:16, x:16] = select(1 <= y && y < 15 && 1 <= x && x < 15, I[c, y - 1, x - 1], 0.0)
O[f:16, y:14, x:14] = sum(c:16, p:3, q:3) P[c, y + p, x + q] * W[f, c, p, q])");
}

bool has_winograd(const Task& task) {
  const Space space = derive_space(task).value();
  return std::ranges::any_of(space.sketches(), [](const Sketch& sketch) {
    return sketch.name.find("winograd") != std::string::npos;
  });
}

TEST(ExactSpecials, LeaveOutWinogradAlone) {
  ASSERT_TRUE(has_winograd(convolution()));
  const Task exact = with_exact_specials(convolution()).value();
  EXPECT_FALSE(has_winograd(exact));
  EXPECT_NE(hash_of(exact), hash_of(convolution()));
  const Space space = derive_space(exact).value();
  EXPECT_GT(space.sketches().size(), 1U);
  // What has no such program keeps its records.
  const Task product = task_of("C[i:16, j:16] = sum(r:16) A[i, r] * B[r, j]");
  EXPECT_EQ(hash_of(with_exact_specials(product).value()), hash_of(product));
}

TEST(ExactSpecials, RefuseWhatSpreads) {
  Task required = convolution();
  required.algorithm = "winograd";
  EXPECT_EQ(with_exact_specials(required).error().message,
            "the task is to be computed by the algorithm 'winograd', which spreads infinities and NaN to "
            "results beside them");
  const Task exact = with_exact_specials(convolution()).value();
  EXPECT_EQ(
      apply_trace(exact, parse_trace("rewrite winograd O m=2").value()).error().message,
      "a step of the trace rewrites by an algorithm that spreads infinities and NaN, and the task is to "
      "keep them where they belong");
}

// One infinity reaches the 9 results of each channel that read it, as infinities.
TEST(ExactSpecials, KeepAnInfinityWhereItBelongs) {
  const Task task = with_exact_specials(convolution()).value();
  const Space space = derive_space(task).value();
  HostTensor image{DType::f32, {16, 14, 14}, std::vector<double>(16 * 14 * 14, 0.5)};
  HostTensor weights{DType::f32, {16, 16, 3, 3}, std::vector<double>(16 * 16 * 9, 0.25)};
  image.values[5 * 14 + 7] = INFINITY;
  for (const Point& point : space.preferred_points()) {
    const Trace trace = space.trace(point).value();
    const LoweredProgram lowered = lower(apply_trace(task, trace).value(), task.target).value();
    const auto outputs = testing::run_machine(lowered, testing::Backend::llvm, std::vector{image, weights});
    ASSERT_TRUE(outputs) << outputs.error().to_string();
    const std::vector<double>& values = outputs->front().values;
    EXPECT_EQ(std::ranges::count(values, INFINITY), 16 * 9) << to_string(trace);
    EXPECT_TRUE(std::ranges::none_of(values, [](double value) { return std::isnan(value); }))
        << to_string(trace);
  }
}

}  // namespace
}  // namespace lathe
