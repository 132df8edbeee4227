// Where a records file may lie, and which connection reads it without leaving anything behind.
#include "records/connect.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/child.h"
#include "base/temporary_folder.h"
#include "records/record_store.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

class ConnectTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  void make_store(const std::string& name) const {
    Result<RecordStore> store = RecordStore::open(file(name));
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    ASSERT_TRUE(store->append(sample_record(1e-3)).has_value());
  }
  size_t files_here() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  static std::string told(const Status& status) { return status ? "" : status.error().to_string(); }

  TemporaryFolder folder_;
};

TEST_F(ConnectTest, APlaceIsAFileInAFolder) {
  EXPECT_EQ(told(check_place(file("new.db"))), "");
  EXPECT_EQ(told(check_place("new.db")), "");
  EXPECT_EQ(told(check_place(file(""))), file("") + " is a directory, not a records file");
  EXPECT_EQ(told(check_place(file("none/r.db"))), "the records file " + file("none/r.db") +
                                                      " cannot be made: the directory " + file("none") +
                                                      " does not exist");
  std::ofstream(file("text")) << "x";
  EXPECT_EQ(told(check_place(file("text"))), "");
  EXPECT_EQ(
      told(check_place(file("text/r.db"))),
      "the records file " + file("text/r.db") + " cannot be made: " + file("text") + " is not a directory");
}

TEST_F(ConnectTest, WhoMayNotWriteIsToldWhichOfBothIsInTheWay) {
  fs::permissions(folder_.path(), fs::perms(0755));
  std::ofstream(file("r.db")) << "x";
  EXPECT_EQ(told(check_writable(file("r.db"))), "");
  fs::permissions(file("r.db"), fs::perms(0444));
  EXPECT_EQ(message_as_stranger([&] { return told(check_writable(file("r.db"))); }),
            "the records file " + file("r.db") + " cannot be written: it is read-only");
  fs::permissions(file("r.db"), fs::perms(0666));
  fs::permissions(folder_.path(), fs::perms(0555));
  EXPECT_EQ(message_as_stranger([&] { return told(check_writable(file("r.db"))); }),
            "the records file " + file("r.db") + " cannot be written: no file can be made in the directory " +
                folder_.path().string() + ": Permission denied");
  EXPECT_EQ(read_only("a.db").error().to_string(),
            "the records file a.db cannot be written: it is read-only");
  fs::permissions(folder_.path(), fs::perms(0755));
}

TEST_F(ConnectTest, ALogIsOneThatHoldsSomethingBesideAFileThatDoes) {
  EXPECT_FALSE(has_log(file("r.db")));
  std::ofstream(file("r.db-wal")) << "log";
  EXPECT_FALSE(has_log(file("r.db")));
  std::ofstream(file("r.db")).close();
  EXPECT_FALSE(has_log(file("r.db")));
  std::ofstream(file("r.db")) << "file";
  EXPECT_TRUE(has_log(file("r.db")));
  fs::create_symlink("r.db", file("link.db"));
  EXPECT_TRUE(has_log(file("link.db")));
  std::ofstream(file("r.db-wal"), std::ios::trunc).close();
  EXPECT_FALSE(has_log(file("r.db")));
}

TEST_F(ConnectTest, ALogWithoutItsFileIsAnOrphan) {
  EXPECT_EQ(told(check_no_orphan(file("r.db"))), "");
  std::ofstream(file("r.db-wal")) << "log";
  const std::string orphan =
      "the records file " + file("r.db") + " is gone, but its log " + file("r.db-wal") +
      ", which holds what was measured last, is there: move the file back beside it, or "
      "remove the log";
  EXPECT_EQ(told(check_no_orphan(file("r.db"))), orphan);
  // SQLite would make a new database of it, and delete the log.
  std::ofstream(file("r.db")).close();
  EXPECT_EQ(told(check_no_orphan(file("r.db"))), orphan);
  std::ofstream(file("r.db")) << "file";
  EXPECT_EQ(told(check_no_orphan(file("r.db"))), "");
}

TEST_F(ConnectTest, ReadingLeavesNothingBeside) {
  make_store("r.db");
  ASSERT_EQ(files_here(), 1U);
  {
    const Result<Connection> connection = connect_to_read(file("r.db"));
    ASSERT_TRUE(connection.has_value()) << connection.error().to_string();
    EXPECT_EQ(connection->integer("SELECT count(*) FROM records").value(), 1);
  }
  {
    const Result<Connection> connection = connect_to_salvage(file("r.db"));
    ASSERT_TRUE(connection.has_value()) << connection.error().to_string();
    EXPECT_EQ(connection->integer("SELECT count(*) FROM records").value(), 1);
  }
  EXPECT_EQ(files_here(), 1U);
}

TEST_F(ConnectTest, AReaderWritesNothing) {
  make_store("r.db");
  Result<Connection> connection = connect_to_read(file("r.db"));
  ASSERT_TRUE(connection.has_value());
  EXPECT_FALSE(connection->execute("DELETE FROM records").has_value());
  EXPECT_EQ(connection->integer("SELECT count(*) FROM records").value(), 1);
}

// The log of a writer that is still at it.
TEST_F(ConnectTest, AReaderSeesWhatIsInTheLogAlone) {
  RecordStore writer = RecordStore::open(file("r.db")).value();
  ASSERT_TRUE(writer.append(sample_record(1e-3)).has_value());
  ASSERT_TRUE(has_log(file("r.db")));
  const Result<Connection> connection = connect_to_read(file("r.db"));
  ASSERT_TRUE(connection.has_value()) << connection.error().to_string();
  EXPECT_EQ(connection->integer("SELECT count(*) FROM records").value(), 1);
  const Result<Connection> salvaging = connect_to_salvage(file("r.db"));
  EXPECT_EQ(salvaging->integer("SELECT count(*) FROM records").value(), 1);
}

}  // namespace
}  // namespace lathe
