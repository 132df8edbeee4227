#include "records/sqlite.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

std::string sentence(int code) { return sqlite_error(code, "SQLite's words", "a.db").to_string(); }

TEST(Sqlite, EveryFailureIsOneSentence) {
  EXPECT_EQ(sentence(SQLITE_FULL),
            "there is no space left to write the records file a.db; what it held before is kept");
  EXPECT_EQ(sentence(SQLITE_NOTADB), "a.db is not a Lathe records file: it is not an SQLite database");
  EXPECT_EQ(
      sentence(SQLITE_CORRUPT),
      "the records file a.db is damaged: SQLite's words; `lathe records repair a.db` saves what can still be "
      "read of it");
  EXPECT_EQ(sentence(SQLITE_BUSY),
            "the records file a.db is locked: another program is writing to it and was not done within 10 "
            "seconds");
  EXPECT_EQ(sentence(SQLITE_READONLY), "the records file a.db cannot be written: it is read-only");
  EXPECT_EQ(sentence(SQLITE_CANTOPEN), "the records file a.db cannot be opened: SQLite's words");
  EXPECT_EQ(sentence(SQLITE_IOERR_WRITE), "reading or writing the records file a.db failed: SQLite's words");
  EXPECT_EQ(sentence(SQLITE_MISUSE), "SQLite refused the records file a.db: SQLite's words");
}

TEST(Sqlite, APipeIsNoRecordsFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "pipe.db";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const bool writable : {false, true}) {
    EXPECT_EQ(Connection::open(path, writable).error().to_string(),
              path + " is not a Lathe records file: it is a pipe or a device");
  }
}

TEST(Sqlite, ValuesComeBackAsTheyWereBound) {
  Connection connection = Connection::open(":memory:", true).value();
  ASSERT_TRUE(connection.execute("CREATE TABLE t (a, b, c, d)").has_value());
  const std::string text("with\0zero", 9);
  Statement insert = connection.prepare("INSERT INTO t VALUES (?, ?, ?, ?)").value();
  insert.bind(int64_t{-5}).bind(0.1).bind(text).bind_null();
  EXPECT_FALSE(insert.step().value());
  EXPECT_EQ(connection.last_row_id(), 1);
  Statement select = connection.prepare("SELECT * FROM t").value();
  ASSERT_TRUE(select.step().value());
  EXPECT_EQ(select.integer(0), -5);
  EXPECT_EQ(select.real(1), 0.1);
  EXPECT_EQ(select.text(2), text);
  EXPECT_TRUE(select.is_null(3));
  EXPECT_FALSE(select.is_null(0));
  EXPECT_FALSE(select.step().value());
}

TEST(Sqlite, APathMayBeginWithSeveralSlashes) {
  const TemporaryFolder folder;
  EXPECT_TRUE(Connection::open("/" + (folder.path() / "a.db").string(), true).has_value());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "a.db"));
}

TEST(Sqlite, ABadStatementIsAnError) {
  Connection connection = Connection::open(":memory:", true).value();
  EXPECT_EQ(connection.prepare("SELECT x FROM nowhere").error().message,
            "SQLite refused the records file :memory:: no such table: nowhere");
  EXPECT_FALSE(connection.execute("nonsense").has_value());
}

}  // namespace
}  // namespace lathe
