// Which records a task is explained by, and whose peaks bound its times.
#include "session/commands/explain_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ExplainTasks : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    digits_ = hash_to_string(record("", 1).task.hash);
  }

  std::string explained() {
    tasks_.clear();
    return refusal_of(explain_tasks(path("r.db"), digits_, teller(),
                                    [this](const ExplainedTask& task) { tasks_.push_back(task); }));
  }
  // The same trial elsewhere: times of another processor say nothing beside these.
  Record elsewhere(const std::string& trace, double seconds) const {
    Record record = this->record(trace, seconds);
    record.machine = "another processor";
    return record;
  }

  std::string digits_;
  std::vector<ExplainedTask> tasks_;
};

TEST_F(ExplainTasks, TheBestOfThisMachineIsExplainedWithItsPeaks) {
  append({record("split C i [2]\n", 2e-3), record("split C j [4]\nvectorize C j.1\n", 1e-3),
          elsewhere("split C i [4]\n", 1e-6), failed_record(ErrorKind::crash, "it ended")});
  ASSERT_EQ(explained(), "");
  ASSERT_EQ(tasks_.size(), 1U);
  const ExplainedTask& task = tasks_.front();
  EXPECT_EQ(task.summary.trials, 4);
  EXPECT_EQ(task.summary.best_id, 3);
  EXPECT_EQ(task.compared.left_aside, 1U);
  EXPECT_EQ(task.compared.records.size(), 3U);
  EXPECT_EQ(task.machine_here, target_.machine);
  EXPECT_EQ(task.explanation.best.id, 2);
  ASSERT_EQ(task.explanation.steps.size(), 2U);
  EXPECT_EQ(task.explanation.steps[1].words, "runs loop j.1 as vectors");
  ASSERT_TRUE(task.roofline.has_value());
  EXPECT_GT(task.roofline->gflops, 0);
  for (const double gigabytes : task.roofline->gigabytes) EXPECT_GT(gigabytes, 0);
  ASSERT_EQ(task.explanation.sketches.size(), 1U);
  EXPECT_EQ(task.explanation.sketches[0].stages.size(), 1U);
  EXPECT_GT(task.explanation.sketches[0].bound_seconds(), 0);
  ASSERT_EQ(task.explanation.failures.size(), 1U);
  EXPECT_EQ(task.explanation.failures[0].what, "crash");
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ExplainTasks, OfAnotherProcessorThereAreNoBounds) {
  append({elsewhere("split C i [2]\n", 1e-6)});
  ASSERT_EQ(explained(), "");
  ASSERT_EQ(tasks_.size(), 1U);
  EXPECT_FALSE(tasks_[0].roofline.has_value());
  EXPECT_TRUE(tasks_[0].explanation.sketches[0].stages.empty());
  EXPECT_EQ(tasks_[0].compared.left_aside, 0U);
}

TEST_F(ExplainTasks, OfAnotherVersionThatIsAllThereIsTheLastOneCounts) {
  Record first = elsewhere("split C i [2]\n", 1e-6);
  first.compiler_version = "0.1";
  Record second = elsewhere("split C j [4]\n", 1e-3);
  second.compiler_version = "0.2";
  append({first, second});
  ASSERT_EQ(explained(), "");
  EXPECT_EQ(tasks_[0].explanation.best.id, 2);
  EXPECT_EQ(tasks_[0].compared.left_aside, 1U);
}

// One task may have been tuned on several numbers of cores.
TEST_F(ExplainTasks, EachNumberOfCoresIsToldByItself) {
  append({record("split C i [2]\n", 2e-3)});
  target_ = with_cores(target_, 100'000);
  Record many = record("split C i [2]\n", 1e-3);
  many.cores = 100'000;
  digits_ = hash_to_string(many.task.hash);
  append({many});
  ASSERT_EQ(explained(), "");
  ASSERT_EQ(tasks_.size(), 1U);
  EXPECT_EQ(tasks_[0].summary.cores, 100'000);
  // There are fewer here.
  EXPECT_FALSE(tasks_[0].roofline.has_value());
}

TEST_F(ExplainTasks, WithoutAProgramThatWorksThereIsNothingToExplain) {
  Record failed = elsewhere("split C i [2]\n", 1);
  failed.measurement = failed_measurement(ErrorKind::timeout, "it hung");
  append({failed});
  EXPECT_EQ(explained(), path("r.db") + ": no record of this task has a program that works");
  EXPECT_THAT(tasks_, IsEmpty());
}

TEST_F(ExplainTasks, ATaskThatThereIsNotIsNamed) {
  EXPECT_EQ(explained(), "there is no records file " + path("r.db"));
  append({record("split C i [2]\n", 1)});
  digits_ = "x";
  EXPECT_EQ(explained(), "--task: 'x' is no task: it has 16 hexadecimal digits, of which the first will do");
  digits_ = std::string(16, '0');
  EXPECT_EQ(explained(), "--task: " + path("r.db") + " has no records of task " + digits_);
}

TEST_F(ExplainTasks, WhatIsDamagedIsToldOnceAndLeftOut) {
  append({elsewhere("split C i [2]\n", 2e-3), elsewhere("split C j [4]\n", 1e-3)});
  change_records("UPDATE records SET seconds = -1 WHERE id = 2");
  ASSERT_EQ(explained(), "");
  EXPECT_EQ(tasks_[0].summary.trials, 1);
  EXPECT_THAT(told_, ElementsAre(StartsWith(path("r.db") + ": 1 record is damaged: record 2, ")));
  change_records("UPDATE records SET seconds = -1");
  EXPECT_THAT(explained(), HasSubstr(path("r.db") + " has no records of task "));
  EXPECT_THAT(tasks_, IsEmpty());
}

// It may know steps that this one does not.
TEST_F(ExplainTasks, ATraceOfAnotherVersionThatCannotBeReadIsAnError) {
  Record old = elsewhere("knit C i [2]\n", 1e-3);
  old.compiler_version = "0.1";
  append({old});
  EXPECT_EQ(explained(), path("r.db") + ": trace of record 1:1:1: 'knit' is no schedule step");
}

}  // namespace
}  // namespace lathe
