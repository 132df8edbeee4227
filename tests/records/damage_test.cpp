// What is damaged in a records file is set aside, named, and moved out of the way by a repair; everything
// else is used.
#include "records/damage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/temporary_folder.h"
#include "records/record_store.h"
#include "records/sample_record.h"
#include "records/task_text.h"

namespace lathe {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DamageTest : public testing::Test {
 protected:
  // Records 1 and 3 are of the task 1, record 2 of the task 2.
  void SetUp() override {
    Record other = sample_record(2e-3);
    other.task.hash = 2;
    ASSERT_TRUE(store().append_all(std::vector{sample_record(1e-3), other, sample_record(3e-3)}).has_value());
  }

  std::string path() const { return (folder_.path() / "r.db").string(); }
  RecordStore store() const { return std::move(RecordStore::open(path()).value()); }
  Connection connection() const { return std::move(Connection::open(path(), true).value()); }
  void change(const std::string& statements) const {
    const Status done = connection().execute(statements.c_str());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  std::string reason(int64_t id) const {
    const RecordStore reading = RecordStore::open_read_only(path()).value();
    const auto found = reading.damage().records.find(id);
    return found == reading.damage().records.end() ? "" : found->second;
  }

  TemporaryFolder folder_;
};

// Whatever the record is asked for by, it is not there, and the others are.
void expect_set_aside(const RecordStore& records, const std::string& what) {
  EXPECT_EQ(records.damage().records.size(), 1u) << what;
  EXPECT_EQ(records.by_id(1).error().kind, ErrorKind::database) << what;
  EXPECT_EQ(records.find({}).value().size(), 2u) << what;
  EXPECT_EQ(records.count({}).value(), 2) << what;
  EXPECT_EQ(records.best({}).value()->id, 2) << what;
  EXPECT_EQ(records.best({.task_hash = 1}).value()->id, 3) << what;
  const std::vector<TaskSummary> tasks = records.tasks().value();
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
          {"machine", "x'00ff'"},
          {"cores", "0"},
          {"cores", "4294967297"},
          {"cores", "1.5"},
          {"cores", "'many'"},
          {"compiler_version", "x'00ff'"},
          {"trace", "'nonsense'"},
          {"trace", "x'00ff'"},
          {"point", "'[1]'"},
          {"point", "'" + deep + "'"},
          {"source", "'guessed'"},
          {"samples", "'[1e-3,'"},
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
    // The time must be that of the samples.
    EXPECT_THAT(reason(1), HasSubstr(value == "'[2e-3]'" ? "seconds" : column)) << what;
    EXPECT_LT(reason(1).size(), 300u) << what;

    const Result<Damage> moved = store().repair();
    ASSERT_TRUE(moved.has_value()) << what << moved.error().to_string();
    EXPECT_EQ(moved->records.size(), 1u) << what;
    EXPECT_TRUE(store().damage().empty()) << what;
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

TEST_F(DamageTest, ATaskIsSetAsideWithItsRecordsWhicheverOfItsColumnsIsDamaged) {
  const std::pair<const char*, const char*> columns[] = {
      {"hash", "'not hexadecimal'"}, {"dag", "'C[i:9] = '"},  {"dag", "x'00ff'"},
      {"constants", "'{'"},          {"layouts", "'7'"},      {"free_layouts", "'maybe'"},
      {"runs_cold", "'maybe'"},      {"algorithm", "x'00ff'"}};
  change("CREATE TABLE whole AS SELECT rowid AS place, * FROM tasks");
  for (const auto& [column, value] : columns) {
    change(fmt::format("UPDATE tasks SET {} = {} WHERE hash LIKE '%1'", column, value));
    const std::string what = fmt::format("{} = {}", column, value);
    RecordStore records = store();
    EXPECT_EQ(records.damage().records.size(), 2u) << what;
    EXPECT_EQ(records.find({}).value().size(), 1u) << what;
    EXPECT_EQ(records.tasks().value().size(), 1u) << what;
    EXPECT_EQ(records.task(1).value(), std::nullopt) << what;
    // Who measures it anew is not kept from it.
    EXPECT_EQ(records.known_as(sample_record(1).task).value(), sample_record(1).task) << what;
    EXPECT_TRUE(records.append(sample_record(4e-3)).has_value()) << what;
    EXPECT_EQ(records.best({.task_hash = 1}).value()->measurement.seconds, 4e-3) << what;
    change(
        "DELETE FROM records WHERE id > 3; DELETE FROM tasks; INSERT INTO tasks SELECT hash, name, dag, "
        "constants, free_layouts, layouts, runs_cold, algorithm FROM whole ORDER BY place");
    ASSERT_TRUE(store().damage().empty()) << what;
  }
}

TEST_F(DamageTest, RecordsWithoutTheirTaskAreSetAside) {
  change("PRAGMA foreign_keys = OFF; DELETE FROM tasks WHERE hash LIKE '%1'");
  EXPECT_EQ(reason(1), "the file does not hold the task '0000000000000001' that is named");
  EXPECT_EQ(reason(2), "");
  EXPECT_EQ(store().repair()->records.size(), 2u);
  EXPECT_EQ(store().count({}).value(), 1);
}

TEST_F(DamageTest, TheErrorOfARecordSaysWhatIsDamaged) {
  change("UPDATE records SET seconds = -1 WHERE id = 1; UPDATE records SET trace = 'nonsense' WHERE id = 2");
  EXPECT_EQ(store().by_id(1).error().message,
            "the records file " + path() + " is damaged: its column seconds holds '-1.0' in record 1");
  EXPECT_THAT(store().by_id(2).error().message,
              StartsWith("the records file " + path() + " is damaged: its trace cannot be read ("));
}

TEST_F(DamageTest, ATaskThatIsNotThatOfItsHashIsSetAsideWhereTasksAreMade) {
  RecordStore records = store();
  EXPECT_TRUE(records.damage().empty());
  ASSERT_TRUE(records.set_aside_misfits().has_value());
  EXPECT_EQ(records.damage().tasks.size(), 2u);
  EXPECT_EQ(records.damage().records.size(), 3u);
  EXPECT_THAT(records.damage().records.at(1), HasSubstr("its text is that of task "));
}

// One that looked fast would oust the fastest.
TEST_F(DamageTest, PruningNeitherCountsNorRemovesIt) {
  change("UPDATE records SET seconds = -1 WHERE id = 1");
  EXPECT_EQ(store().prune(1).value(), 0);
  EXPECT_EQ(connection().integer("SELECT count(*) FROM records").value(), 3);
}

TEST_F(DamageTest, ASoundRecordOfTheSameCandidateIsMergedBesideIt) {
  change("UPDATE records SET seconds = -1 WHERE id = 1");
  EXPECT_EQ(store().append_missing(std::vector{sample_record(1e-3)})->added, 0) << "record 3 is the same";
  change("UPDATE records SET seconds = -1 WHERE id = 3");
  EXPECT_EQ(store().append_missing(std::vector{sample_record(1e-3)})->added, 1);
}

}  // namespace
}  // namespace lathe
