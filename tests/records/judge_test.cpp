// Why a record cannot be used, as half a sentence.
#include "records/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/compiler_version.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "records/own_record.h"
#include "records/record_row.h"
#include "records/record_store.h"

namespace lathe {
namespace {

using ::testing::MatchesRegex;

class JudgeTest : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "r.db").string(); }
  void append(const Record& record) const {
    ASSERT_TRUE(RecordStore::open(path())->append(record).has_value());
  }
  // What is wrong with the first record.
  Fault fault() {
    const Connection connection = Connection::open(path(), false).value();
    Statement rows = connection.prepare(select_record({}) + " ORDER BY id").value();
    EXPECT_TRUE(rows.step().value());
    const std::expected<Record, Fault> record = judge_.read(rows);
    return record ? Fault{"it can be used"} : record.error();
  }
  void change(const char* statements) const {
    const Status done = Connection::open(path(), true)->execute(statements);
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }

  TemporaryFolder folder_;
  Judge judge_;
  const std::string hash_ = hash_to_string(own_record(1).task.hash);
};

TEST_F(JudgeTest, WhatThisLatheMadeIsReadToTheEnd) {
  append(own_record(1e-3));
  EXPECT_EQ(fault().reason, "it can be used");
  change("UPDATE records SET trace = 'knit C i'");
  EXPECT_EQ(fault().reason, "its trace cannot be read (column trace:1:1: 'knit' is no schedule step)");
  change("UPDATE records SET trace = ''");
  EXPECT_EQ(fault().reason, "its column trace holds ''");
  change("UPDATE records SET target = 'x87'");
  EXPECT_EQ(fault().reason, "its column target holds 'x87'");
  EXPECT_EQ(fault().of_task, "");
}

// It may know steps, targets and formulas that this one does not.
TEST_F(JudgeTest, WhatAnotherVersionMadeStaysUnjudged) {
  append(own_record(1e-3));
  change(
      "UPDATE records SET compiler_version = '0.0', trace = 'knit C i', target = 'x87'; UPDATE tasks SET dag "
      "= "
      "'C[i:8] := A[i]'");
  EXPECT_EQ(fault().reason, "it can be used");
  change("UPDATE records SET cores = 0");
  EXPECT_EQ(fault().reason, "its column cores holds '0'");
}

TEST_F(JudgeTest, ADamagedTaskIsNamedWithWhatIsWrongOfIt) {
  append(own_record(1e-3));
  change("UPDATE tasks SET layouts = '{}'");
  EXPECT_EQ(fault().reason, "its task " + hash_ + " is damaged: its column layouts holds '{}'");
  EXPECT_EQ(fault().of_task, "its column layouts holds '{}'");
  change("UPDATE tasks SET layouts = '[]', free_layouts = 0");
  EXPECT_THAT(fault().reason,
              MatchesRegex("its task " + hash_ + " is damaged: its text is that of task [0-9a-f]+"));
}

TEST_F(JudgeTest, ATaskThatIsMissingIsNamedByWhatTheRecordSays) {
  append(own_record(1e-3));
  change("PRAGMA foreign_keys = OFF; UPDATE records SET task = 'nothing'");
  EXPECT_EQ(fault().reason, "the file does not hold the task 'nothing' that is named");
  EXPECT_EQ(fault().of_task, "");
}

// One single result leaves nothing to choose: the empty trace is a program of it.
TEST_F(JudgeTest, ATaskOfOneResultNeedsNoStep) {
  Record record = own_record(1e-3);
  const Target target = with_cores(parse_target(record.target).value(), record.cores);
  const Dag dag = parse_dag("C[i:1] = sum(r:8) A[r]", "dag").value();
  record.task = text_of(make_task("dot", dag, target, {}).value());
  record.trace = "";
  append(record);
  EXPECT_EQ(fault().reason, "it can be used");
}

TEST_F(JudgeTest, TheSameTextIsJudgedByItsTargetAndCores) {
  const Record record = own_record(1);
  EXPECT_EQ(judge_.fault_of(record.task, record.target, record.cores), "");
  EXPECT_THAT(judge_.fault_of(record.task, record.target, record.cores + 1),
              MatchesRegex("its text is that of task [0-9a-f]+"));
  EXPECT_THAT(judge_.fault_of(record.task, "x87", record.cores), MatchesRegex("unknown target 'x87': .*"));
  // Another text under the same hash is another question.
  TaskText changed = record.task;
  changed.free_layouts = !changed.free_layouts;
  EXPECT_NE(judge_.fault_of(changed, record.target, record.cores), "");
  EXPECT_EQ(judge_.fault_of(record.task, record.target, record.cores), "");
}

TEST_F(JudgeTest, ReadingEndsWhereItIsToldTo) {
  for (const double seconds : {1e-3, 2e-3, 3e-3}) append(own_record(seconds));
  change("UPDATE records SET cores = 0 WHERE id <> 2");
  const Connection connection = Connection::open(path(), false).value();
  std::vector<int64_t> ids;
  for (const bool goes_on : {true, false}) {
    Statement rows = connection.prepare(select_record({}) + " ORDER BY id").value();
    const Result<Damage> damage = read_records(rows, judge_, [&](const Statement&, const Record& record) {
      ids.push_back(record.id);
      return goes_on;
    });
    // The third is not come to where the second ends it.
    EXPECT_EQ(damage->records.size(), goes_on ? 2U : 1U);
    EXPECT_TRUE(damage->tasks.empty());
  }
  EXPECT_EQ(ids, (std::vector<int64_t>{2, 2}));
}

TEST_F(JudgeTest, ADamagedTaskIsListedOnceWithAllItsRecords) {
  for (const double seconds : {1e-3, 2e-3}) append(own_record(seconds));
  change("UPDATE tasks SET layouts = '{}'");
  const Connection connection = Connection::open(path(), false).value();
  Statement rows = connection.prepare(select_record({})).value();
  const Damage damage =
      read_records(rows, judge_, [](const Statement&, const Record&) { return true; }).value();
  EXPECT_EQ(damage.records.size(), 2U);
  ASSERT_EQ(damage.tasks.size(), 1U);
  EXPECT_EQ(damage.tasks.begin()->first, hash_);
  EXPECT_EQ(damage.tasks.begin()->second.reason, "its column layouts holds '{}'");
  EXPECT_FALSE(damage.empty());
  EXPECT_TRUE(Damage().empty());
}

TEST(OfThisVersion, IsARecordThatNamesIt) {
  Record record;
  EXPECT_FALSE(is_of_this_version(record));
  record.compiler_version = compiler_version();
  EXPECT_TRUE(is_of_this_version(record));
}

}  // namespace
}  // namespace lathe
