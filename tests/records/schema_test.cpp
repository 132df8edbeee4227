// Which files are records files, and what they gain when they are written.
#include "records/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

class SchemaTest : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "r.db").string(); }
  void run(const std::string& statements) {
    const Status done = connection_.execute(statements.c_str());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  std::string verified(bool may_be_empty) const {
    const Status status = verify_schema(connection_, path(), may_be_empty);
    return status ? "" : status.error().to_string();
  }
  std::string written() {
    const Status status = write_schema(connection_, path());
    return status ? "" : status.error().to_string();
  }
  std::string indexes() const {
    const Status status = verify_indexes(connection_, path());
    return status ? "" : status.error().to_string();
  }

  TemporaryFolder folder_;
  Connection connection_ = Connection::open(path(), true).value();
};

TEST_F(SchemaTest, AnEmptyFileMayBecomeOne) {
  EXPECT_EQ(verified(true), "");
  EXPECT_EQ(verified(false), path() + " is not a Lathe records file: it is empty");
  EXPECT_EQ(written(), "");
  EXPECT_EQ(verified(false), "");
  EXPECT_EQ(connection_.integer("PRAGMA user_version").value(), kRecordSchema);
  EXPECT_EQ(connection_.integer("PRAGMA application_id").value(), 0x4c746865);
  // Once more, as each who opens it does.
  EXPECT_EQ(written(), "");
  EXPECT_EQ(verified(false), "");
}

TEST_F(SchemaTest, AnotherProgramsFileIsLeftAlone) {
  const std::string another =
      path() + " is not a Lathe records file: it is an SQLite database of another program";
  run("CREATE TABLE mine (x)");
  EXPECT_EQ(verified(true), another);
  EXPECT_EQ(written(), another);
  EXPECT_EQ(connection_.integer("SELECT count(*) FROM sqlite_master").value(), 1);
  run("DROP TABLE mine; PRAGMA user_version = 3");
  EXPECT_EQ(verified(true), another);
  run("PRAGMA user_version = 0; PRAGMA application_id = 5");
  EXPECT_EQ(verified(true), another);
}

TEST_F(SchemaTest, AFileOfANewerLatheIsRefused) {
  ASSERT_EQ(written(), "");
  run(fmt::format("PRAGMA user_version = {}", kRecordSchema + 1));
  const std::string newer = fmt::format(
      "the records file {} was written by a newer Lathe: its schema is version {} and this Lathe knows "
      "up to version {}",
      path(), kRecordSchema + 1, kRecordSchema);
  EXPECT_EQ(verified(false), newer);
  EXPECT_EQ(written(), newer);
  EXPECT_EQ(connection_.integer("PRAGMA user_version").value(), kRecordSchema + 1);
}

TEST_F(SchemaTest, ColumnsThatAFileLacksAreNull) {
  ASSERT_EQ(written(), "");
  const LaterColumns all = later_columns(connection_).value();
  EXPECT_EQ(all.tolerance, "tolerance");
  EXPECT_EQ(all.runs_cold, "runs_cold");
  EXPECT_EQ(all.algorithm, "algorithm");
  run("ALTER TABLE records DROP COLUMN tolerance; ALTER TABLE tasks DROP COLUMN algorithm");
  const LaterColumns some = later_columns(connection_).value();
  EXPECT_EQ(some.tolerance, "NULL");
  EXPECT_EQ(some.runs_cold, "runs_cold");
  EXPECT_EQ(some.algorithm, "NULL");
  ASSERT_EQ(written(), "");
  EXPECT_EQ(later_columns(connection_)->tolerance, "tolerance");
  EXPECT_EQ(later_columns(connection_)->algorithm, "algorithm");
}

// Tables that are missing come again; indexes too.
TEST_F(SchemaTest, WhatIsMissingIsMade) {
  ASSERT_EQ(written(), "");
  run("DROP INDEX records_by_time; DROP TABLE tasks");
  ASSERT_EQ(written(), "");
  EXPECT_EQ(connection_
                .integer("SELECT count(*) FROM sqlite_master WHERE name IN ('tasks', 'records', "
                         "'records_by_task', 'records_by_time')")
                .value(),
            4);
  EXPECT_EQ(indexes(), "");
}

TEST_F(SchemaTest, IndexesHoldAllRows) {
  ASSERT_EQ(written(), "");
  EXPECT_EQ(indexes(), "");
  run("INSERT INTO tasks (hash, name, dag, constants, free_layouts, layouts) VALUES ('1', '', '', '', 0, "
      "'')");
  run("INSERT INTO records (task, target, machine, cores, compiler_version, trace, point, source, samples, "
      "timed_once, strategy, seed, created_at, wall_seconds) VALUES ('1', '', '', 1, '', '', '', '', '', 0, "
      "'', 0, "
      "0, 0)");
  EXPECT_EQ(indexes(), "");
  // An index of somebody's own may be of some rows alone.
  run("CREATE INDEX mine ON records (task) WHERE cores > 4");
  EXPECT_EQ(indexes(), "");
  // What a page of nonsense leaves: an index that is whole by itself and lacks rows.
  run("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = sql || ' WHERE cores > 4' WHERE name = "
      "'records_by_task'");
  Connection again = Connection::open(path(), true).value();
  ASSERT_TRUE(again.execute("REINDEX records_by_task").has_value());
  ASSERT_TRUE(again
                  .execute("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ' WHERE "
                           "cores > 4', '') WHERE name = 'records_by_task'")
                  .has_value());
  const Connection reader = Connection::open(path(), false).value();
  const Status status = verify_indexes(reader, path());
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().to_string(),
            "the records file " + path() +
                " is damaged: an index does not hold all rows; `lathe records repair " + path() +
                "` saves what can still be read of it");
}

}  // namespace
}  // namespace lathe
