// Records as rows: each column as it was bound, and what is said of one that no Lathe wrote.
#include "records/record_row.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "records/sample_record.h"

namespace lathe {
namespace {

class RecordRow : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(write_schema(connection_, ":memory:").has_value()); }

  void insert(const Record& record) {
    Statement task = connection_.prepare(kInsertTask).value();
    bind_task(task, record.task);
    ASSERT_TRUE(task.run().has_value());
    Statement row = connection_.prepare(kInsertRecord).value();
    bind_record(row, record);
    const Status done = row.run();
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  Statement first_row() const {
    Statement row = connection_.prepare(select_record({})).value();
    EXPECT_TRUE(row.step().value());
    return row;
  }
  void change(const std::string& statements) {
    const Status done = connection_.execute(statements.c_str());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  // The record that comes back, whole.
  Record again(const Record& record) {
    insert(record);
    const Statement row = first_row();
    Result<Record> read = record_alone(row);
    EXPECT_TRUE(read.has_value()) << read.error().to_string();
    Result<TaskText> task = task_alone(row);
    EXPECT_TRUE(task.has_value()) << task.error().to_string();
    read->task = *task;
    read->id = record.id;
    return *read;
  }

  Connection connection_ = Connection::open(":memory:", true).value();
};

TEST_F(RecordRow, EveryFieldComesBack) {
  Record record = sample_record(1e-3);
  record.task.name = "two\nlines and 'quotes'";
  record.task.constants = {"A", "B\"]"};
  record.task.runs_cold = true;
  record.task.algorithm = "winograd";
  record.seed = uint64_t{1} << 63;
  record.created_at = -1;
  record.cores = 1 << 20;
  record.measurement = measurement_of({1.0 / 3, 2.0 / 3, 1e-12});
  record.measurement.source = MeasureSource::simulated;
  record.tolerance = 0.0;
  EXPECT_EQ(again(record), record);
}

TEST_F(RecordRow, AFailureComesBackWithItsSamples) {
  Record record = sample_record(1e-3);
  record.measurement.failure = MeasureFailure{ErrorKind::wrong_result, "C[0] is 1 where the reference is 2"};
  record.measurement.seconds = 0;
  record.measurement.spread = 0;
  EXPECT_EQ(again(record), record);
}

TEST_F(RecordRow, NamesThatAreNoTextAreReplacedInLists) {
  Record record = sample_record(1e-3);
  record.task.constants = {"B\xff"};
  EXPECT_EQ(again(record).task.constants, std::vector<std::string>{"B\xef\xbf\xbd"});
}

struct DamagedColumn {
  const char* column;
  const char* value;
  const char* reason;
};

constexpr DamagedColumn kDamagedColumns[] = {
    {"target", "x'7f'", "its column target holds '\\x7f'"},
    {"machine", "5", ""},  // a number becomes a text
    {"cores", "0", "its column cores holds '0'"},
    {"cores", "1048577", "its column cores holds '1048577'"},
    {"cores", "'two'", "its column cores holds 'two'"},
    {"point", "'{}'", "its column point holds '{}'"},
    {"source", "'felt'", "its column source holds 'felt'"},
    {"samples", "'1e-3'", "its column samples holds '1e-3'"},
    {"samples", "'[\"a\"]'", "its column samples holds '[\"a\"]'"},
    {"samples", "'[1e10]'", "its column samples holds '[1e10]'"},
    {"samples", "'[]'", "its column samples holds '[]'"},
    {"seconds", "2e-3", "its column seconds holds '0.002'"},
    {"seconds", "0", "its column seconds holds '0.0'"},
    {"seconds", "NULL", "its column seconds holds ''"},
    {"spread", "-0.5", "its column spread holds '-0.5'"},
    {"timed_once", "'no'", "its column timed_once holds 'no'"},
    {"failure_kind", "'fate'", "its column failure_kind holds 'fate'"},
    {"seed", "1.5", "its column seed holds '1.5'"},
    {"created_at", "'now'", "its column created_at holds 'now'"},
    {"wall_seconds", "1e10", "its column wall_seconds holds '10000000000.0'"},
    {"tolerance", "1.5", "its column tolerance holds '1.5'"},
    {"tolerance", "1", ""},
    {"tolerance", "NULL", ""},
};

TEST_F(RecordRow, AColumnThatHoldsSomethingElseIsNamed) {
  insert(sample_record(1e-3));
  change("CREATE TABLE whole AS SELECT * FROM records");
  for (const DamagedColumn& damaged : kDamagedColumns) {
    change(fmt::format("UPDATE records SET {} = {}", damaged.column, damaged.value));
    const Result<Record> read = record_alone(first_row());
    EXPECT_EQ(read ? "" : read.error().to_string(), damaged.reason)
        << damaged.column << " = " << damaged.value;
    change(fmt::format("UPDATE records SET {0} = (SELECT {0} FROM whole)", damaged.column));
  }
}

// Times that were modelled have no samples that they follow from.
TEST_F(RecordRow, WhatWasModelledNeedsNoSamples) {
  insert(sample_record(1e-3));
  change("UPDATE records SET samples = '[]', source = 'modelled'");
  EXPECT_EQ(record_alone(first_row())->measurement.seconds, 1e-3);
  change("UPDATE records SET source = 'measured'");
  EXPECT_FALSE(record_alone(first_row()).has_value());
}

constexpr DamagedColumn kDamagedTaskColumns[] = {
    {"hash", "'twelve'", "its column hash holds 'twelve'"},
    {"dag", "x'7f'", "its column dag holds '\\x7f'"},
    {"constants", "'B'", "its column constants holds 'B'"},
    {"constants", "'[1]'", "its column constants holds '[1]'"},
    {"free_layouts", "'yes'", "its column free_layouts holds 'yes'"},
    {"layouts", "'{}'", "its column layouts holds '{}'"},
    {"runs_cold", "'yes'", "its column runs_cold holds 'yes'"},
    {"runs_cold", "NULL", ""},
    {"algorithm", "x'7f'", "its column algorithm holds '\\x7f'"},
    {"algorithm", "NULL", ""},
    {"name", "x'7f'", ""},  // for people
};

TEST_F(RecordRow, ATasksColumnThatHoldsSomethingElseIsNamed) {
  insert(sample_record(1e-3));
  change("CREATE TABLE whole AS SELECT * FROM tasks");
  for (const DamagedColumn& damaged : kDamagedTaskColumns) {
    change(fmt::format("PRAGMA foreign_keys = OFF; UPDATE tasks SET {} = {}", damaged.column, damaged.value));
    Statement row = connection_.prepare(select_all_tasks({})).value();
    ASSERT_TRUE(row.step().value());
    const Result<TaskText> read = task_alone(row);
    EXPECT_EQ(read ? "" : read.error().to_string(), damaged.reason)
        << damaged.column << " = " << damaged.value;
    change(fmt::format("UPDATE tasks SET {0} = (SELECT {0} FROM whole)", damaged.column));
  }
}

TEST_F(RecordRow, ALongValueIsAbridged) {
  insert(sample_record(1e-3));
  change("UPDATE records SET point = '" + std::string(5000, '[') + "'");
  const std::string reason = record_alone(first_row()).error().to_string();
  EXPECT_TRUE(reason.starts_with("its column point holds '[[[")) << reason;
  EXPECT_LT(reason.size(), 300U);
}

// Columns of later builds are NULL in a file without them.
TEST_F(RecordRow, FilesOfEarlierBuildsLackColumns) {
  Record record = sample_record(1e-3);
  record.tolerance = 0.5;
  record.task.runs_cold = true;
  record.task.algorithm = "winograd";
  insert(record);
  const LaterColumns none{"NULL", "NULL", "NULL"};
  Statement row = connection_.prepare(select_record(none)).value();
  ASSERT_TRUE(row.step().value());
  EXPECT_EQ(record_alone(row)->tolerance, std::nullopt);
  EXPECT_FALSE(task_alone(row)->runs_cold);
  EXPECT_EQ(task_alone(row)->algorithm, "");
}

TEST_F(RecordRow, ARowWithoutItsTaskIsThereAllTheSame) {
  insert(sample_record(1e-3));
  change("PRAGMA foreign_keys = OFF; DELETE FROM tasks");
  const Statement row = first_row();
  EXPECT_TRUE(row.is_null(0));
  EXPECT_EQ(row.text(kTaskOfRecord), "0000000000000001");
  EXPECT_EQ(row.integer(kIdOfRecord), 1);
  EXPECT_TRUE(record_alone(row).has_value());
}

}  // namespace
}  // namespace lathe
