#include "task/task_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

TaskText product() {
  const Task task = make_task("p", parse_dag("C[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]").value(),
                              generic_target("x86-avx2"), {"B"}, true)
                        .value();
  return text_of(task);
}

TEST(TaskJson, WhatIsWrittenIsReadBackAndMakesTheTask) {
  const TaskText before = product();
  const TaskText after = task_text_from(nlohmann::json::parse(json_of(before).dump())).value();
  EXPECT_EQ(after, before);
  EXPECT_TRUE(task_of(after, generic_target("x86-avx2")));
}

TEST(TaskJson, WhatIsMissingOrOfAnotherTypeIsNamed) {
  const nlohmann::json whole = nlohmann::json::parse(json_of(product()).dump());
  for (const auto& [key, value] : whole.items()) {
    nlohmann::json damaged = whole;
    damaged.erase(key);
    const auto without = task_text_from(damaged);
    ASSERT_FALSE(without) << key;
    EXPECT_THAT(without.error().message, ::testing::HasSubstr("member '" + key + "' of the task"));
    damaged[key] = 7;
    EXPECT_FALSE(task_text_from(damaged)) << key;
  }
  EXPECT_FALSE(task_text_from(nlohmann::json::array()));
}

}  // namespace
}  // namespace lathe
