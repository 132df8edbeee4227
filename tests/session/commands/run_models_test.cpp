#include "session/commands/run_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/write_file.h"
#include "session/commands/table_case.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class RunModelsTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    ASSERT_TRUE(write_file(path("mm.table"), {table_bytes(table_case(source(), 200))}));
  }
  ExperimentRun learned() const {
    ExperimentRun run{.label = "GBT", .strategy = "annealing", .cost_model = "gbt"};
    run.learned = LearnedBefore{.tables = {"mm.table"}, .points = 60, .cost_model = "gbt"};
    return run;
  }
  RunModels models() const { return RunModels(path(""), parts_); }

  SearchParts parts_;
};

TEST_F(RunModelsTest, AModelThatLearnedBeforePredictsAtOnce) {
  RunModels models = this->models();
  EXPECT_TRUE(models.make(learned()).value()->fitted());
  EXPECT_FALSE(models.make({.label = "GBT", .strategy = "annealing", .cost_model = "gbt"}).value()->fitted());
  EXPECT_NE(RunModels::text_of(learned()), "gbt");
}

TEST_F(RunModelsTest, WhatCannotBeLearnedIsNamed) {
  RunModels models = this->models();
  ExperimentRun run = learned();
  run.cost_model = "gbt:features=relation";
  EXPECT_THAT(refusal_of(models.make(run)), HasSubstr("run 'GBT': "));
  run = learned();
  run.learned->tables = {"none.table"};
  EXPECT_THAT(refusal_of(models.make(run)), HasSubstr("none.table"));
}

}  // namespace
}  // namespace lathe
