// Reductions without reuse: partial results in the lanes, several results or parts side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/space.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Task norm(int64_t rows, int64_t columns, int cores) {
  Task task = task_of(R"({"name":"n", "op":"frobenius_norm", "batch":3, "m":)" + std::to_string(rows) +
                      R"(, "n":)" + std::to_string(columns) + "}");
  task.cores = cores;
  return task;
}

TEST(ReductionRule, PartsOfALongSumRunSideBySideInTheLanes) {
  const Task task = norm(64, 64, 1);
  const Result<Space> space = Space::derive(task);
  ASSERT_TRUE(space);
  const std::string text = to_string(space->trace(space->preferred_points().front()).value());
  EXPECT_THAT(text, AllOf(HasSubstr("rfactor o.sum.rf i.0"), HasSubstr("unroll o.sum.rf.rf i.0.1"),
                          HasSubstr("vectorize o.sum.rf.rf j.1")));
}

TEST(ReductionRule, ComputesTheSame) {
  for (const int cores : {1, 2}) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{64, 64}, {37, 53}, {5, 1201}, {600, 7}}) {
      const Task task = norm(rows, columns, cores);
      const Result<Space> space = Space::derive(task);
      ASSERT_TRUE(space);
      Rng rng(3);
      for (int i = 0; i < 6; ++i) {
        const Sketch& sketch = space->sketches().front();
        const Result<Trace> trace = space->trace({0, i == 0 ? sketch.preferred : sample(sketch.domain, rng)});
        ASSERT_TRUE(trace) << trace.error().to_string();
        expect_same(task, *trace);
      }
    }
  }
}

// Each result of the sum serves a row of quotients, which are a stage of their own.
TEST(ReductionRule, WhatSpreadsAResultHasVectorsOfItsOwn) {
  const Task task = task_of(
      R"({"name":"e", "op":"expression", "text":"S[i:40] = sum(j:40) X[i,j]\nO[i:40, j:40] = X[i,j] / S[i]"})");
  const Result<Space> space = Space::derive(task);
  ASSERT_TRUE(space);
  const std::string text = to_string(space->trace(space->preferred_points().front()).value());
  EXPECT_THAT(text, AllOf(HasSubstr("vectorize O j.2"), HasSubstr("vectorize S.rf j.1")));
}

}  // namespace
}  // namespace lathe::testing
