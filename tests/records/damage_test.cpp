// What is damaged in a records file is set aside where it is read, named, and moved out of the way by a
// repair; everything else is used.
#include "records/damage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/hash.h"
#include "base/temporary_folder.h"
#include "records/own_record.h"
#include "records/record_store.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class DamageTest : public ::testing::Test {
 protected:
  // Records 1 and 3 are of one task, record 2 of another.
  void SetUp() override {
    ASSERT_TRUE(store()
                    .append_all(std::vector{own_record(1e-3), own_record(2e-3, 16), own_record(3e-3)})
                    .has_value());
  }

  std::string path() const { return (folder_.path() / "r.db").string(); }
  RecordStore store() const { return std::move(RecordStore::open(path()).value()); }
  Connection connection() const { return std::move(Connection::open(path(), true).value()); }
  void change(const std::string& statements) const {
    const Status done = connection().execute(statements.c_str());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  // What a query for everything leaves out.
  static Damage damage(RecordStore records) {
    Damage told;
    records.tell_damage([&](const Damage& damage) { told = damage; });
    EXPECT_TRUE(records.find({}).has_value());
    return told;
  }
  std::string reason(int64_t id) const {
    Damage told = damage(RecordStore::open_read_only(path()).value());
    return told.records[id];
  }

  const TaskText task_ = own_record(1).task;
  const std::string hash_ = hash_to_string(task_.hash);
  TemporaryFolder folder_;
};

TEST_F(DamageTest, ARecordOfTheLargestNumberIsMovedSoThatOthersCanFollow) {
  change("UPDATE records SET id = 9223372036854775807 WHERE id = 3");
  EXPECT_EQ(reason(9223372036854775807), "its number is the largest there is, so that none can follow it");
  const Result<int64_t> refused = store().append(own_record(4e-3));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("takes no more records: the largest number that there is"));
  EXPECT_EQ(store().repair().value().records.size(), 1u);
  EXPECT_EQ(store().append(own_record(4e-3)).value(), 4);
}

// Whatever the record is asked for by, it is not there, and the others are.
void expect_set_aside(const RecordStore& records, const std::string& what) {
  const uint64_t hash = own_record(1).task.hash;
  EXPECT_EQ(records.by_id(1).error().kind, ErrorKind::database) << what;
  EXPECT_EQ(records.find({}).value().size(), 2u) << what;
  EXPECT_EQ(records.count({}).value(), 2) << what;
  EXPECT_EQ(records.best({}).value()->id, 2) << what;
  EXPECT_EQ(records.best({.task_hash = hash}).value()->id, 3) << what;
  const std::vector<TaskSummary> tasks = records.tasks({}).value();
  ASSERT_EQ(tasks.size(), 2u) << what;
  EXPECT_EQ(tasks.front().trials, 1) << what;
  EXPECT_EQ(tasks.front().best_id, 3) << what;
}

struct Cell {
  std::string column;
  std::string value;
};

std::vector<Cell> damaged_cells() {
  const std::string deep(100'000, '[');
  return {{"task", "'0000000000000009'"},
          {"target", "x'00ff'"},
          {"target", "'x87'"},
          {"machine", "x'00ff'"},
          {"cores", "0"},
          {"cores", "4294967297"},
          {"cores", "1.5"},
          {"cores", "'many'"},
          {"compiler_version", "x'00ff'"},
          {"trace", "'nonsense'"},
          {"trace", "x'00ff'"},
          {"trace", "''"},
          {"point", "'[1]'"},
          {"point", "'" + deep + "'"},
          {"source", "'guessed'"},
          {"samples", "'[1e-3,'"},
          {"samples", "'[]'"},
          {"samples", "'[null]'"},
          {"samples", "'[NaN]'"},
          {"samples", "'[-1.0]'"},
          {"samples", "'[2e-3]'"},
          {"seconds", "-1"},
          {"seconds", "9e999"},
          {"seconds", "NULL"},
          {"seconds", "'soon'"},
          {"seconds", "1e-13"},
          {"spread", "-1"},
          {"spread", "9e999"},
          {"spread", "NULL"},
          {"timed_once", "'maybe'"},
          {"failure_kind", "'bad luck'"},
          {"strategy", "x'00ff'"},
          {"seed", "'x'"},
          {"created_at", "'yesterday'"},
          {"wall_seconds", "'long'"},
          {"wall_seconds", "-1"},
          {"tolerance", "-1"},
          {"tolerance", "9e999"},
          {"tolerance", "'none'"}};
}

TEST_F(DamageTest, ARecordIsSetAsideWhicheverOfItsColumnsIsDamaged) {
  change("CREATE TABLE whole AS SELECT * FROM records WHERE id = 1");
  for (const auto& [column, value] : damaged_cells()) {
    change(fmt::format("PRAGMA foreign_keys = OFF; UPDATE records SET {} = {} WHERE id = 1", column, value));
    const std::string what = fmt::format("{} = {}", column, value.substr(0, 20));
    expect_set_aside(store(), what);
    expect_set_aside(RecordStore::open_read_only(path()).value(), what);
    EXPECT_EQ(damage(store()).records.size(), 1u) << what;
    // The time must be that of the samples.
    EXPECT_THAT(reason(1), HasSubstr(value == "'[2e-3]'" ? "seconds" : column)) << what;
    EXPECT_LT(reason(1).size(), 300u) << what;

    const Result<Damage> moved = store().repair();
    ASSERT_TRUE(moved.has_value()) << what << moved.error().to_string();
    EXPECT_EQ(moved->records.size(), 1u) << what;
    EXPECT_TRUE(damage(store()).empty()) << what;
    EXPECT_EQ(store().count({}).value(), 2) << what;
    const std::string kept =
        fmt::format("SELECT count(*) FROM damaged_records WHERE id = 1 AND {} IS {} AND reason != ''", column,
                    column == "cores" || value.starts_with("'") || value.starts_with("x")
                        ? value
                        : "CAST(" + value + " AS REAL)");
    if (value != "NULL") {
      EXPECT_EQ(connection().integer(kept).value(), 1) << what;
    }
    change("INSERT INTO records SELECT * FROM whole; DELETE FROM damaged_records");
  }
}

std::vector<Cell> damaged_task_cells() {
  return {
      {"dag", "'C[i:9] = '"},      {"dag", "x'00ff'"},    {"dag", "'C[i:9, j:8] = sum(r:8) A[i,r] * B[r,j]'"},
      {"constants", "'{'"},        {"constants", "'[]'"}, {"layouts", "'7'"},
      {"free_layouts", "'maybe'"}, {"free_layouts", "0"}, {"runs_cold", "'maybe'"},
      {"algorithm", "x'00ff'"}};
}

TEST_F(DamageTest, ATaskIsSetAsideWithItsRecordsUntilItComesAgain) {
  for (const bool is_repaired : {false, true}) {
    for (const auto& [column, value] : damaged_task_cells()) {
      change(fmt::format("PRAGMA foreign_keys = OFF; UPDATE tasks SET {} = {} WHERE hash = '{}'", column,
                         value, hash_));
      const std::string what = fmt::format("{} = {}, repaired: {}", column, value, is_repaired);
      RecordStore records = store();
      EXPECT_EQ(damage(store()).records.size(), 2u) << what;
      EXPECT_EQ(records.tasks({}).value().size(), 1u) << what;
      EXPECT_EQ(records.task(task_).value(), std::nullopt) << what;
      if (is_repaired) {
        EXPECT_EQ(records.repair()->records.size(), 2u) << what;
        EXPECT_TRUE(damage(store()).empty()) << what;
        EXPECT_TRUE(records.repair()->empty()) << what;
        EXPECT_EQ(connection().integer("SELECT count(*) FROM damaged_records").value(), 2) << what;
      }
      // Who measures it anew has all that was measured before.
      EXPECT_EQ(records.known_as(task_).value(), task_) << what;
      EXPECT_EQ(records.find({}).value().size(), 3u) << what;
      EXPECT_EQ(records.best({}).value()->id, 1) << what;
      EXPECT_TRUE(damage(store()).empty()) << what;
      ASSERT_EQ(connection().integer("SELECT count(*) FROM damaged_tasks").value(), 1) << what;
      change("DELETE FROM damaged_tasks; DELETE FROM tasks WHERE hash NOT IN (SELECT task FROM records)");
    }
  }
}

TEST_F(DamageTest, ATaskWhoseHashIsDamagedComesAgainToo) {
  change(
      fmt::format("PRAGMA foreign_keys = OFF; UPDATE tasks SET hash = 'no number' WHERE hash = '{}'", hash_));
  EXPECT_EQ(damage(store()).records.size(), 2u);
  const Damage moved = store().repair().value();
  EXPECT_EQ(moved.records.size(), 2u);
  EXPECT_EQ(moved.tasks.at("no number").reason, "its column hash holds 'no number'");
  EXPECT_EQ(store().known_as(task_).value(), task_);
  EXPECT_EQ(store().find({})->size(), 3u);
}

TEST_F(DamageTest, ARecordThatIsDamagedItselfDoesNotComeBackWithItsTask) {
  change("UPDATE tasks SET dag = 'x'; UPDATE records SET seconds = -1 WHERE id = 1");
  EXPECT_EQ(store().repair()->records.size(), 3u);
  EXPECT_TRUE(store().known_as(task_).has_value());
  EXPECT_EQ(store().count({}).value(), 1);
  EXPECT_EQ(connection().integer("SELECT count(*) FROM damaged_records").value(), 2);
}

TEST_F(DamageTest, ARecordOfOtherCoresThanItsTasksIsDamagedByItself) {
  change("UPDATE records SET cores = 7 WHERE id = 1");
  EXPECT_THAT(reason(1), HasSubstr(fmt::format("its task {} is damaged: its text is that of task ", hash_)));
  const Damage moved = store().repair().value();
  EXPECT_EQ(moved.records.size(), 1u);
  EXPECT_TRUE(moved.tasks.empty());
}

TEST_F(DamageTest, RecordsWithoutTheirTaskAreSetAside) {
  change(fmt::format("PRAGMA foreign_keys = OFF; DELETE FROM tasks WHERE hash = '{}'", hash_));
  EXPECT_EQ(reason(1), fmt::format("the file does not hold the task '{}' that is named", hash_));
  EXPECT_EQ(reason(2), "");
  EXPECT_EQ(store().repair()->records.size(), 2u);
  EXPECT_EQ(store().count({}).value(), 1);
  EXPECT_TRUE(store().append(own_record(4e-3)).has_value());
  EXPECT_EQ(store().count({}).value(), 4);
}

// It may know steps, and ways of writing a formula, that this one does not.
TEST_F(DamageTest, WhatAnotherLatheMadeIsNotJudged) {
  change(
      "UPDATE records SET compiler_version = '9.9.9', trace = 'newstep(a, b)', target = 'riscv'; UPDATE "
      "tasks SET "
      "dag = 'C[i:8] = newly A[i]'");
  EXPECT_TRUE(damage(store()).empty());
  EXPECT_TRUE(store().repair()->empty());
  EXPECT_EQ(store().count({}).value(), 3);
  // Beside records of this one, too, which are moved, and the task is left to the others.
  change("UPDATE records SET compiler_version = '" + compiler_version() +
         "', target = 'x86-avx2' WHERE id = 1");
  EXPECT_EQ(store().repair()->records.size(), 1u);
  EXPECT_EQ(store().count({}).value(), 2);
  EXPECT_TRUE(damage(store()).empty());
}

TEST_F(DamageTest, TheErrorOfARecordSaysWhatIsDamaged) {
  change("UPDATE records SET seconds = -1 WHERE id = 1; UPDATE records SET trace = 'nonsense' WHERE id = 2");
  EXPECT_EQ(store().by_id(1).error().message,
            "record 1 of the records file " + path() + " is damaged: its column seconds holds '-1.0'");
  EXPECT_THAT(store().by_id(2).error().message, StartsWith("record 2 of the records file " + path() +
                                                           " is damaged: its trace cannot be read ("));
}

// Programs of a scalar have nothing to choose, and no steps.
TEST_F(DamageTest, ATraceWithoutStepsIsSoundWhereThereIsNoChoice) {
  change(
      "UPDATE records SET trace = '', point = '{\"choices\":{},\"sketch\":\"direct\",\"space\":\"lathe\"}' "
      "WHERE id = 1");
  EXPECT_EQ(reason(1), "");
}

TEST_F(DamageTest, WhatIsNotReadIsNotTold) {
  change("UPDATE records SET trace = 'nonsense' WHERE id = 1");
  RecordStore records = store();
  int told = 0;
  records.tell_damage([&](const Damage&) { ++told; });
  EXPECT_EQ(records.find({.task_hash = own_record(1, 16).task.hash})->size(), 1u);
  EXPECT_EQ(told, 0);
  EXPECT_EQ(records.find({.task_hash = task_.hash})->size(), 1u);
  EXPECT_EQ(told, 1);
}

// One that looked fast would oust the fastest.
TEST_F(DamageTest, PruningNeitherCountsNorRemovesIt) {
  change("UPDATE records SET seconds = -1 WHERE id = 1");
  EXPECT_EQ(store().prune(1).value(), 0);
  EXPECT_EQ(connection().integer("SELECT count(*) FROM records").value(), 3);
}

TEST_F(DamageTest, ASoundRecordOfTheSameCandidateIsMergedBesideIt) {
  change("UPDATE records SET seconds = -1 WHERE id = 1");
  EXPECT_EQ(store().append_missing(std::vector{own_record(1e-3)})->added, 0) << "record 3 is the same";
  change("UPDATE records SET seconds = -1 WHERE id = 3");
  EXPECT_EQ(store().append_missing(std::vector{own_record(1e-3)})->added, 1);
}

// Else they would be there twice once the task is whole.
TEST_F(DamageTest, AMergeMakesATaskWholeBeforeItLooksForItsRecords) {
  for (const bool is_repaired : {false, true}) {
    change("UPDATE tasks SET dag = 'x'");
    if (is_repaired) {
      ASSERT_TRUE(store().repair().has_value());
    }
    const std::vector<Record> theirs{own_record(1e-3), own_record(2e-3, 16), own_record(5e-3, 24)};
    EXPECT_EQ(store().append_missing(theirs)->added, is_repaired ? 0 : 1) << is_repaired;
    EXPECT_EQ(store().count({}).value(), 4) << is_repaired;
    EXPECT_TRUE(damage(store()).empty()) << is_repaired;
  }
}

}  // namespace
}  // namespace lathe
