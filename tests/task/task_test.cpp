#include "task/task.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

Dag dag_of(std::string_view text) { return parse_dag(text).value(); }

const char* const kMatmul = "C[i:10, j:11] = sum(r:9) A[i,r] * B[r,j]";

Task task_of(std::string_view text, const std::vector<std::string>& constants = {}, bool free_layouts = false,
             int cores = 1, const char* target = "x86-avx2") {
  return make_task("t", dag_of(text), with_cores(generic_target(target), cores), constants, free_layouts)
      .value();
}

TEST(Task, RolesAndLayouts) {
  const Task task = task_of(kMatmul, {"B"}, true);
  ASSERT_EQ(task.arguments.size(), 3u);
  EXPECT_TRUE(task.arguments[0].layout_is_free && !task.arguments[0].is_constant);
  EXPECT_TRUE(!task.arguments[1].layout_is_free && task.arguments[1].is_constant);
  EXPECT_TRUE(task.arguments[2].layout_is_free && task.arguments[2].is_output);
  EXPECT_EQ(task.arguments[2].layout, Layout::row_major(2));
}

TEST(Task, Errors) {
  const Result<Task> task = make_task("t", dag_of(kMatmul), generic_target("x86-avx2"), {"D"});
  EXPECT_EQ(task.error().to_string(), "constant 'D' is no input");
  EXPECT_EQ(make_task("t", dag_of(kMatmul), with_cores(generic_target("x86-avx2"), 0)).error().to_string(),
            "0 cores cannot run anything");
}

TEST(Task, HashIgnoresNamesOnly) {
  const uint64_t hash = hash_of(task_of(kMatmul));
  EXPECT_EQ(hash, hash_of(task_of("Z[a:10, b:11] = sum(k:9) X[a,k] * Y[k,b]")));
  EXPECT_NE(hash, hash_of(task_of("Z[a:10, b:11] = sum(k:9) Y[a,k] * X[k,b] + 0.0")));
  EXPECT_NE(hash, hash_of(task_of("Z[a:10, b:11] = max(k:9) X[a,k] * Y[k,b]")));
  EXPECT_NE(hash, hash_of(task_of("Z[a:10, b:11] = sum(k:9) X[a,k] * Y[b,k]")));
  EXPECT_NE(hash, hash_of(task_of("input Y[9, 11] input X[10, 9] Z[a:10, b:11] = sum(k:9) X[a,k] * Y[k,b]")));
  EXPECT_NE(hash, hash_of(task_of(kMatmul, {"B"})));
  EXPECT_NE(hash, hash_of(task_of(kMatmul, {}, true)));
  EXPECT_NE(hash, hash_of(task_of(kMatmul, {}, false, 2)));
  EXPECT_NE(hash, hash_of(task_of(kMatmul, {}, false, 1, "x86-avx512")));
  Task cold = task_of(kMatmul);
  cold.runs_cold = true;
  EXPECT_NE(hash, hash_of(cold));
  Task required = task_of(kMatmul);
  required.algorithm = "winograd";
  EXPECT_NE(hash, hash_of(required));
  required.algorithm = "im2col";
  EXPECT_NE(hash_of(required), hash_of(cold));
}

TEST(Task, Operations) {
  EXPECT_EQ(flops_of(dag_of(kMatmul)), 2 * 10 * 11 * 9);
  EXPECT_EQ(bytes_of(dag_of(kMatmul)), 4 * (10 * 9 + 9 * 11 + 10 * 11));
  EXPECT_EQ(flops_of(dag_of("P[x:10] = select(x >= 1 && x < 9, I[x - 1], 0.0)")), 0);
  EXPECT_EQ(flops_of(dag_of("P[x:10] = select(I[x] > 0.0, exp(I[x] - 1.0), I[x])")), 30);
  EXPECT_EQ(flops_of(dag_of("P[x:10] = max(k:3) f32(2 * x + k) * I[x]")), 60);
}

}  // namespace
}  // namespace lathe
