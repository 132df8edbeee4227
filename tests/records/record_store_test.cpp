#include "records/record_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class RecordStoreTest : public ::testing::Test {
 protected:
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  RecordStore store() const { return std::move(RecordStore::open(file("records.db")).value()); }

  void change(const std::string& statements) const {
    ASSERT_TRUE(Connection::open(file("records.db"), true)->execute(statements.c_str()).has_value());
  }

  static std::vector<int64_t> ids(const std::vector<Record>& records) {
    std::vector<int64_t> result;
    for (const Record& record : records) result.push_back(record.id);
    return result;
  }

  TemporaryFolder folder_;
};

TEST_F(RecordStoreTest, WhatWasAppendedComesBackAfterReopening) {
  Record record = sample_record(1e-3);
  record.measurement = measurement_of({1.0 / 3, 0.1, 2e-7, 0.3333});
  record.measurement.timed_once = true;
  record.seed = ~uint64_t{0};
  record.tolerance = 1.0 / 3;
  record.task.hash = 0xfedcba9876543210;
  Record failed = sample_record(0);
  failed.measurement =
      failed_measurement(ErrorKind::wrong_result, "element (3, 4) is 1.5 and should be 2, it's \"off\"");
  {
    RecordStore records = store();
    record.id = records.append(record).value();
    failed.id = records.append(failed).value();
  }
  RecordStore records = RecordStore::open_read_only(file("records.db")).value();
  EXPECT_EQ(records.by_id(record.id).value(), record);
  EXPECT_EQ(records.by_id(failed.id).value(), failed);
  EXPECT_EQ(records.by_id(99).error().message,
            "the records file " + file("records.db") + " has no record 99");
}

// A trace would speak of loops and blocks that its task does not have.
TEST_F(RecordStoreTest, ATaskKeepsTheNamesUnderWhichItCame) {
  RecordStore records = store();
  const Record first = sample_record(1e-3);
  ASSERT_TRUE(records.append(first).has_value());
  EXPECT_EQ(records.task(first.task).value(), first.task);
  Record second = first;
  second.task.hash = 2;
  EXPECT_EQ(records.task(second.task).value(), std::nullopt);
  second.task.hash = first.task.hash;
  second.task.dag = "Z[a:1024, b:1024] = sum(k:1024) X[a,k] * Y[k,b]";
  EXPECT_EQ(records.append(second).error().message,
            "the records file " + file("records.db") +
                " knows task 0000000000000001 (matmul.1024) under other names of tensors and axes");
  EXPECT_EQ(records.count({}).value(), 1);
}

TEST_F(RecordStoreTest, ManyRecordsAreStoredAtOnce) {
  RecordStore records = store();
  const std::vector<Record> batch{sample_record(1e-3), sample_record(2e-3), sample_record(3e-3)};
  EXPECT_THAT(records.append_all(batch).value(), ElementsAre(1, 2, 3));
  EXPECT_EQ(records.by_id(2)->measurement.seconds, 2e-3);
  EXPECT_THAT(records.append_all({}).value(), ElementsAre());
}

TEST_F(RecordStoreTest, EveryErrorKindOfAFailureComesBack) {
  RecordStore records = store();
  for (ErrorKind kind : {ErrorKind::build, ErrorKind::load, ErrorKind::timeout, ErrorKind::crash,
                         ErrorKind::wrong_result, ErrorKind::invalid_program}) {
    Record record = sample_record(0);
    record.measurement = failed_measurement(kind, "so");
    const int64_t id = records.append(record).value();
    EXPECT_EQ(records.by_id(id)->measurement.failure->kind, kind);
  }
}

TEST_F(RecordStoreTest, ARecordThatTurnsOutWrongLosesItsTimeAndItsPlace) {
  RecordStore records = store();
  const std::vector<Record> batch{sample_record(2e-3), sample_record(1e-3), sample_record(3e-3)};
  ASSERT_TRUE(records.append_all(batch).has_value());
  const MeasureFailure failure{ErrorKind::wrong_result, "C[1, 2] is 3 where the reference is 4"};
  ASSERT_TRUE(records.mark_failed(2, failure, 1e-5).has_value());
  Record expected = batch[1];
  expected.id = 2;
  expected.measurement.seconds = 0;
  expected.measurement.spread = 0;
  expected.measurement.failure = failure;
  expected.tolerance = 1e-5;
  EXPECT_EQ(records.by_id(2).value(), expected);
  EXPECT_EQ(records.best({}).value()->id, 1);
  EXPECT_EQ(records.mark_failed(9, failure, 1e-5).error().kind, ErrorKind::not_found);
}

TEST_F(RecordStoreTest, RecordsThatAreExceptedDoNotCount) {
  RecordStore records = store();
  const std::vector<Record> batch{sample_record(1e-3), sample_record(2e-3), sample_record(3e-3)};
  ASSERT_TRUE(records.append_all(batch).has_value());
  RecordQuery query;
  query.target = batch.front().target;
  query.except = {1, 2};
  EXPECT_THAT(ids(records.find(query).value()), ElementsAre(3));
  EXPECT_EQ(records.best(query).value()->id, 3);
}

TEST_F(RecordStoreTest, QueriesAgreeWithEveryFieldGiven) {
  RecordStore records = store();
  std::vector<Record> all(5, sample_record(1e-3));
  all[1].task.hash = 2;
  all[2].target = "x86-avx512";
  all[3].cores = 4;
  all[4].compiler_version = "9.9";
  for (const Record& record : all) ASSERT_TRUE(records.append(record).has_value());
  const auto found = [&](const RecordQuery& query) { return ids(records.find(query).value()); };
  EXPECT_THAT(found({}), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(found({.task_hash = 2}), ElementsAre(2));
  EXPECT_THAT(found({.target = "x86-avx512"}), ElementsAre(3));
  EXPECT_THAT(found({.cores = 4}), ElementsAre(4));
  EXPECT_THAT(found({.compiler_version = "9.9"}), ElementsAre(5));
  EXPECT_THAT(found({.machine = "another"}), ElementsAre());
  EXPECT_THAT(found({.task_hash = 1, .target = "x86-avx2", .cores = 1, .compiler_version = "0.1"}),
              ElementsAre(1));
  EXPECT_EQ(records.count({.task_hash = 1}).value(), 4);
}

TEST_F(RecordStoreTest, BestIsTheFastestThatDidNotFail) {
  RecordStore records = store();
  EXPECT_FALSE(records.best({.task_hash = 1})->has_value());
  Record failed = sample_record(0);
  failed.measurement = failed_measurement(ErrorKind::crash, "signal 11");
  for (const Record& record : {failed, sample_record(3e-3), sample_record(1e-3), sample_record(1e-3)}) {
    ASSERT_TRUE(records.append(record).has_value());
  }
  Record other = sample_record(1e-9);
  other.task.hash = 2;
  ASSERT_TRUE(records.append(other).has_value());
  EXPECT_EQ(records.best({.task_hash = 1}).value()->id, 3);
  EXPECT_EQ(records.best({}).value()->id, 5);
}

TEST_F(RecordStoreTest, TasksAreSummedUp) {
  RecordStore records = store();
  Record failed = sample_record(0);
  failed.measurement = failed_measurement(ErrorKind::timeout, "over 1 s");
  Record second_task = failed;
  second_task.task.hash = 2;
  second_task.task.name = "second";
  Record two_cores = sample_record(4e-4);
  two_cores.cores = 2;
  for (const Record& record :
       {failed, sample_record(3e-3), sample_record(1e-3), sample_record(2e-3), second_task, two_cores}) {
    ASSERT_TRUE(records.append(record).has_value());
  }
  const auto tasks = records.tasks({}).value();
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].task, sample_record(0).task);
  EXPECT_EQ(tasks[0].trials, 4);
  EXPECT_EQ(tasks[0].failed, 1);
  EXPECT_EQ(tasks[0].best_seconds, 1e-3);
  EXPECT_EQ(tasks[0].best_id, 3);
  EXPECT_EQ(tasks[1].cores, 2);
  EXPECT_EQ(tasks[1].best_seconds, 4e-4);
  EXPECT_EQ(tasks[2].task.name, "second");
  EXPECT_EQ(tasks[2].best_seconds, std::nullopt);
  EXPECT_EQ(tasks[2].best_id, std::nullopt);
}

TEST_F(RecordStoreTest, GarbageIsNotARecordsFile) {
  for (const std::string& content : {std::string("hello"), std::string(100'000, 'x')}) {
    std::ofstream(file("garbage.db")) << content;
    const std::string message =
        file("garbage.db") + " is not a Lathe records file: it is not an SQLite database";
    EXPECT_EQ(RecordStore::open(file("garbage.db")).error().message, message);
    EXPECT_EQ(RecordStore::open_read_only(file("garbage.db")).error().message, message);
    EXPECT_EQ(fs::file_size(file("garbage.db")), content.size()) << "the user's file was changed";
  }
}

TEST_F(RecordStoreTest, ATruncatedFileIsDamaged) {
  {
    RecordStore records = store();
    ASSERT_TRUE(records.append_all(std::vector(100, sample_record(1e-3))).has_value());
  }
  fs::resize_file(file("records.db"), fs::file_size(file("records.db")) / 2);
  const auto opened = RecordStore::open(file("records.db"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::database);
  EXPECT_EQ(opened.error().message,
            fmt::format("the records file {0} is damaged: database disk image is malformed; `lathe records "
                        "repair {0}` saves what can still be read of it",
                        file("records.db")));
}

TEST_F(RecordStoreTest, AnotherProgramsDatabaseIsLeftAlone) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file("other.db").c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "CREATE TABLE mine (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_EQ(RecordStore::open(file("other.db")).error().message,
            file("other.db") + " is not a Lathe records file: it is an SQLite database of another program");
}

TEST_F(RecordStoreTest, ANewerSchemaIsRefused) {
  {
    RecordStore records = store();
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file("records.db").c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "PRAGMA user_version = 7", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_EQ(
      RecordStore::open(file("records.db")).error().message,
      "the records file " + file("records.db") +
          " was written by a newer Lathe: its schema is version 7 and this Lathe knows up to version 4");
}

TEST_F(RecordStoreTest, AFileOfAnEarlierBuildIsReadAndGainsColumnsWhenItIsWritten) {
  Record record = sample_record(1e-3);
  {
    RecordStore records = store();
    record.id = records.append(record).value();
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file("records.db").c_str(), &handle), SQLITE_OK);
  for (const char* change :
       {"ALTER TABLE records DROP COLUMN tolerance", "ALTER TABLE tasks DROP COLUMN runs_cold",
        "ALTER TABLE tasks DROP COLUMN algorithm", "PRAGMA user_version = 1"})
    ASSERT_EQ(sqlite3_exec(handle, change, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  {
    const Result<RecordStore> old = RecordStore::open_read_only(file("records.db"));
    EXPECT_EQ(old->by_id(1).value(), record);
    EXPECT_EQ(old->task(record.task).value(), record.task);
    EXPECT_EQ(old->tasks({})->front().task, record.task);
  }
  RecordStore records = store();
  EXPECT_EQ(Connection::open(file("records.db"), false)->integer("PRAGMA user_version").value(),
            kRecordSchema);
  EXPECT_EQ(records.by_id(1).value(), record);
  record.tolerance = 1e-4;
  record.id = records.append(record).value();
  EXPECT_EQ(records.by_id(2).value(), record);
  record.task.hash = 2;
  record.task.runs_cold = true;
  record.id = records.append(record).value();
  EXPECT_EQ(records.by_id(3).value(), record);
}

TEST_F(RecordStoreTest, TasksOfVersionTwoRequireNoAlgorithm) {
  Record record = sample_record(1e-3);
  record.task.runs_cold = true;
  {
    RecordStore records = store();
    record.id = records.append(record).value();
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file("records.db").c_str(), &handle), SQLITE_OK);
  for (const char* change : {"ALTER TABLE tasks DROP COLUMN algorithm", "PRAGMA user_version = 2"})
    ASSERT_EQ(sqlite3_exec(handle, change, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_EQ(RecordStore::open_read_only(file("records.db"))->tasks({})->front().task, record.task);
  RecordStore records = store();
  EXPECT_EQ(records.task(record.task).value(), record.task);
  record.task.hash = 2;
  record.task.algorithm = "winograd";
  record.id = records.append(record).value();
  EXPECT_EQ(records.by_id(2).value(), record);
  EXPECT_EQ(records.task(record.task).value(), record.task);
  EXPECT_EQ(records.by_id(1)->task.algorithm, "");
}

// Where the damage is in a column's type, tasks are numbers and texts.
TEST_F(RecordStoreTest, TasksWithoutAnOrderEndTheCheck) {
  {
    ASSERT_TRUE(store().append(sample_record(1e-3)).has_value());
  }
  change(
      "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'task TEXT', 'task TEPT')");
  EXPECT_TRUE(RecordStore::open(file("records.db")).has_value());
  EXPECT_TRUE(RecordStore::open_read_only(file("records.db")).has_value());
}

TEST_F(RecordStoreTest, ATimeOfAFailedRecordIsNone) {
  RecordStore records = store();
  ASSERT_TRUE(records.append_all(std::vector{sample_record(1e-3), sample_record(2e-3)}).has_value());
  change("UPDATE records SET failure_kind = 'crash', failure_message = 'it crashed' WHERE id = 1");
  EXPECT_EQ(records.tasks({})->front().best_seconds, 2e-3);
  EXPECT_EQ(records.tasks({})->front().best_id, 2);
  EXPECT_EQ(records.best({}).value()->id, 2);
  EXPECT_EQ(records.by_id(1)->measurement.seconds, 0);
}

TEST_F(RecordStoreTest, APlaceThatCannotHoldAFileIsOneSentence) {
  EXPECT_EQ(RecordStore::open(folder_.path().string()).error().message,
            folder_.path().string() + " is a directory, not a records file");
  EXPECT_EQ(RecordStore::open(file("no/such/records.db")).error().message,
            "the records file " + file("no/such/records.db") + " cannot be made: the directory " +
                file("no/such") + " does not exist");
  std::ofstream(file("text")) << "hello";
  EXPECT_EQ(
      RecordStore::open(file("text/records.db")).error().message,
      fmt::format("the records file {0}/records.db cannot be made: {0} is not a directory", file("text")));
}

TEST_F(RecordStoreTest, ReadingNeitherMakesNorWritesAFile) {
  EXPECT_EQ(RecordStore::open_read_only(file("records.db")).error().message,
            "there is no records file " + file("records.db"));
  EXPECT_FALSE(fs::exists(file("records.db")));
  std::ofstream(file("empty.db")).close();
  EXPECT_EQ(RecordStore::open_read_only(file("empty.db")).error().message,
            file("empty.db") + " is not a Lathe records file: it is empty");
  {
    RecordStore records = store();
  }
  RecordStore records = RecordStore::open_read_only(file("records.db")).value();
  EXPECT_EQ(records.append(sample_record(1)).error().message,
            "the records file " + file("records.db") + " cannot be written: it is read-only");
}

TEST_F(RecordStoreTest, AnEmptyFileAndAnOddNameAreTaken) {
  std::ofstream(file("empty.db")).close();
  EXPECT_TRUE(RecordStore::open(file("empty.db")).has_value());
  const std::string odd = file("50% of? #1.db");
  ASSERT_TRUE(RecordStore::open(odd)->append(sample_record(1)).has_value());
  EXPECT_TRUE(fs::exists(odd));
}

TEST_F(RecordStoreTest, WhatIsMissingIsAppendedOnce) {
  Record first = sample_record(1e-3);
  Record second = sample_record(2e-3);
  second.created_at = first.created_at + 1;
  Record elsewhere = first;
  elsewhere.machine = "another machine";
  RecordStore records = store();
  ASSERT_TRUE(records.append(first).has_value());
  EXPECT_EQ(records.append_missing(std::vector{first, second, elsewhere})->added, 2);
  EXPECT_EQ(records.append_missing(std::vector{first, second, elsewhere})->added, 0);
  EXPECT_EQ(records.count({}).value(), 3);
}

TEST_F(RecordStoreTest, OnlyTasksUnderOtherNamesAreLeftOut) {
  Record renamed = sample_record(1e-3);
  renamed.task.dag = "Z[a:1024, b:1024] = sum(k:1024) X[a,k] * Y[k,b]";
  renamed.created_at += 1;
  Record other = sample_record(2e-3);
  other.task.hash = 2;
  RecordStore records = store();
  ASSERT_TRUE(records.append(sample_record(1e-3)).has_value());
  const MergeCounts counts = records.append_missing(std::vector{renamed, other, renamed}).value();
  EXPECT_EQ(counts.added, 1);
  EXPECT_EQ(counts.left_out, std::vector{renamed.task});
  EXPECT_EQ(records.count({}).value(), 2);
  EXPECT_EQ(records.count({.task_hash = 2}).value(), 1);
}

TEST_F(RecordStoreTest, ATaskIsKnownFromTheFirstWhoAsks) {
  RecordStore first = store();
  RecordStore second = store();
  const TaskText text = sample_record(1).task;
  TaskText renamed = text;
  renamed.dag = "Z[a:1024, b:1024] = sum(k:1024) X[a,k] * Y[k,b]";
  EXPECT_EQ(first.known_as(text).value(), text);
  EXPECT_EQ(second.known_as(renamed).value(), text);
  EXPECT_TRUE(first.tasks({})->empty());
}

TEST_F(RecordStoreTest, PruningKeepsTheFastestOfEachTaskMachineAndNumberOfCores) {
  RecordStore records = store();
  const auto add = [&](double seconds, const std::string& machine, int cores) {
    Record record = sample_record(seconds);
    record.machine = machine;
    record.cores = cores;
    ASSERT_TRUE(records.append(record).has_value());
  };
  for (const double seconds : {3e-3, 1e-3, 2e-3}) add(seconds, "a", 1);
  add(9e-3, "b", 1);
  add(8e-3, "a", 2);
  Record failed = sample_record(0);
  failed.measurement = failed_measurement(ErrorKind::crash, "it crashed");
  ASSERT_TRUE(records.append(failed).has_value());
  EXPECT_EQ(records.prune(2).value(), 2);
  std::vector<double> kept;
  const std::vector<Record> left = records.find({}).value();
  for (const Record& record : left) kept.push_back(record.measurement.seconds);
  EXPECT_THAT(kept, ElementsAre(1e-3, 2e-3, 9e-3, 8e-3));
  EXPECT_EQ(records.prune(2).value(), 0);
}

}  // namespace
}  // namespace lathe
