// Reductions without reuse: partial results in the lanes, several results or parts side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Task norm(int64_t rows, int64_t columns, int cores) {
  Task task = task_of_workload(R"({"name":"n", "op":"frobenius_norm", "batch":3, "m":)" +
                               std::to_string(rows) + R"(, "n":)" + std::to_string(columns) + "}");
  task.target.cpu().cores = cores;
  return task;
}

TEST(ReductionRule, PartsOfALongSumRunSideBySideInTheLanes) {
  const Task task = norm(64, 64, 1);
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  const std::string text = to_string(space->trace(space->preferred_points().front()).value());
  EXPECT_THAT(text, AllOf(HasSubstr("rfactor o.sum.rf i.0"), HasSubstr("unroll o.sum.rf.rf i.0.1"),
                          HasSubstr("vectorize o.sum.rf.rf j.1")));
}

TEST(ReductionRule, ComputesTheSame) {
  for (const int cores : {1, 2}) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{64, 64}, {37, 53}, {5, 1201}, {600, 7}}) {
      const Task task = norm(rows, columns, cores);
      const Result<Space> space = derive_space(task);
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
  const Task task = task_of_workload(
      R"({"name":"e", "op":"expression", "text":"S[i:40] = sum(j:40) X[i,j]\nO[i:40, j:40] = X[i,j] / S[i]"})");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  const std::string text = to_string(space->trace(space->preferred_points().front()).value());
  EXPECT_THAT(text, AllOf(HasSubstr("vectorize O j.2"), HasSubstr("vectorize S.rf j.1")));
}

// A window that slides over an image as it lies: what takes its sums has their vectors too.
TEST(ReductionRule, TheConsumerOfSumsAlongAnAxisHasTheirVectors) {
  Task task = task_of_workload(
      R"({"name":"d", "op":"expression", "text":"S[c:3, x:50] = sum(k:3) X[c, x + k] * W[c, k]\nO[c:3, x:50] = exp(S[c, x]) + B[c]"})");
  task.target.cpu().cores = 1;
  for (Argument& argument : task.arguments) argument.layout_is_free = false;
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  const Trace trace = space->trace(space->preferred_points().front()).value();
  EXPECT_THAT(to_string(trace), AllOf(HasSubstr("reverse_compute_at O S x.0 scope=registers"),
                                      HasSubstr("vectorize O x.1"), HasSubstr("tail O x mask")));
  expect_same(task, trace);
}

Task long_sum(int64_t m, int64_t n, int64_t k, int cores) {
  Task task = task_of_workload(R"({"name":"l", "op":"matmul", "batch":1, "m":)" + std::to_string(m) +
                               R"(, "n":)" + std::to_string(n) + R"(, "k":)" + std::to_string(k) + "}");
  task.target.cpu().cores = cores;
  return task;
}

std::vector<std::string> sketch_names(const Space& space) {
  std::vector<std::string> names;
  for (const Sketch& sketch : space.sketches()) names.push_back(sketch.name);
  return names;
}

// Nine sums cannot keep the units busy, but those in the lanes of a 3 x 3 tile can.
TEST(ReductionRule, AProductOfFewResultsIsSummedUpInTheLanes) {
  const Task task = long_sum(3, 3, 20000, 1);
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  const Point first = space->preferred_points().front();
  EXPECT_EQ(space->sketches()[static_cast<size_t>(first.sketch)].name, "direct C vector=r");
  EXPECT_THAT(to_string(space->trace(first).value()),
              AllOf(HasSubstr("split C.rf.rf j [3]"), HasSubstr("split C.rf.rf i [3]"),
                    HasSubstr("vectorize C.rf.rf r.1.1")));
}

TEST(ReductionRule, AProductOfManyResultsOrAShortSumIsNot) {
  for (const Task& task : {long_sum(64, 64, 20000, 1), long_sum(3, 3, 100, 1)}) {
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space);
    EXPECT_THAT(sketch_names(*space), Not(Contains("direct C vector=r")));
  }
}

TEST(ReductionRule, SumsOfProductsInTheLanesComputeTheSame) {
  for (const int cores : {1, 2}) {
    for (const Task& task :
         {long_sum(3, 3, 1101, cores), long_sum(5, 7, 1031, cores), long_sum(2, 4, 1024, cores)}) {
      const Result<Space> space = derive_space(task);
      ASSERT_TRUE(space);
      const std::vector<std::string> names = sketch_names(*space);
      const auto name = std::ranges::find(names, "direct C vector=r");
      ASSERT_NE(name, names.end());
      const auto sketch = static_cast<int>(name - names.begin());
      Rng rng(3);
      for (int i = 0; i < 6; ++i) {
        const Domain& domain = space->sketches()[static_cast<size_t>(sketch)].domain;
        const Result<Trace> trace = space->trace({sketch, sample(domain, rng)});
        ASSERT_TRUE(trace) << trace.error().to_string();
        expect_same(task, *trace);
      }
    }
  }
}

}  // namespace
}  // namespace lathe::testing
