#include "task/task_text.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

Task product() {
  const Dag dag = parse_dag("C[i:10, j:11] = sum(r:9) A[i,r] * B[r,j]").value();
  return make_task("t", dag, generic_target("x86-avx2"), {"B"}).value();
}

TEST(TaskText, MakesTheTaskAgain) {
  Task own_layout = product();
  own_layout.arguments[0].layout = Layout::permuted(std::vector<int>{1, 0});
  Task cold = product();
  cold.runs_cold = true;
  Task required = product();
  required.algorithm = "winograd";
  for (const Task& task : {product(), own_layout, cold, required}) {
    const Result<Task> again = task_of(text_of(task), task.target);
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_EQ(hash_of(*again), hash_of(task));
    EXPECT_EQ(text_of(*again), text_of(task));
  }
}

TEST(TaskText, ThatIsAnotherTasksIsDamaged) {
  TaskText text = text_of(product());
  text.runs_cold = true;
  const Result<Task> task = task_of(text, generic_target("x86-avx2"));
  ASSERT_FALSE(task.has_value());
  EXPECT_NE(task.error().message.find("is damaged: its text is that of task "), std::string::npos);
}

// The records of all earlier builds are found by it.
TEST(TaskText, TheHashOfATaskWithoutAnAlgorithmStays) {
  EXPECT_EQ(hash_to_string(text_of(product()).hash), "7af0965dbf22762f");
}

}  // namespace
}  // namespace lathe
