#include "records/salvage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "records/record_store.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRecords = 200;
constexpr int64_t kPage = 4096;

class SalvageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<Record> records(kRecords, sample_record(1e-3));
    for (Record& record : records) record.created_at += &record - records.data();
    ASSERT_TRUE(RecordStore::open(path()).value().append_all(records).has_value());
  }

  std::string path() const { return (folder_.path() / "r.db").string(); }
  void change(const std::string& statements) const {
    const Status done = Connection::open(path(), true)->execute(statements.c_str());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  int64_t integer(const char* question) const {
    return Connection::open(path(), false)->integer(question).value();
  }
  void overwrite(int64_t offset, int64_t bytes, char value) const {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << std::string(static_cast<size_t>(bytes), value);
  }
  // Everything that is left is as it was.
  void expect_repaired(int64_t least) const {
    EXPECT_TRUE(is_whole(path()).value());
    const RecordStore records = RecordStore::open(path()).value();
    const std::vector<Record> found = records.find({}).value();
    EXPECT_GE(static_cast<int64_t>(found.size()), least);
    for (const Record& record : found) {
      Record expected = sample_record(1e-3);
      expected.id = record.id;
      expected.created_at += record.id - 1;
      EXPECT_EQ(record, expected);
    }
  }

  TemporaryFolder folder_;
};

TEST_F(SalvageTest, AWholeFileIsWhole) {
  EXPECT_TRUE(is_whole(path()).value());
  EXPECT_EQ(is_whole(path() + ".other").error().kind, ErrorKind::not_found);
}

TEST_F(SalvageTest, AFileThatWasCutShortKeepsWhatIsBeforeTheCut) {
  fs::resize_file(path(), fs::file_size(path()) / 2);
  EXPECT_FALSE(is_whole(path()).value());
  const Result<Salvaged> salvaged = salvage(path());
  ASSERT_TRUE(salvaged.has_value()) << salvaged.error().to_string();
  EXPECT_GT(salvaged->records, 0);
  EXPECT_LT(salvaged->records, kRecords);
  EXPECT_TRUE(fs::exists(salvaged->original));
  expect_repaired(salvaged->records);
}

// Each page but the first, which says what the file is and where its tables begin.
TEST_F(SalvageTest, APageOfNonsenseCostsWhatItHeld) {
  const auto bytes = static_cast<int64_t>(fs::file_size(path()));
  const std::string whole = path() + ".whole";
  fs::copy_file(path(), whole);
  int64_t most = 0;
  for (int64_t page = kPage; page < bytes; page += kPage) {
    fs::copy_file(whole, path(), fs::copy_options::overwrite_existing);
    overwrite(page, kPage, '\x5a');
    ASSERT_FALSE(is_whole(path()).value()) << page;
    const Result<Salvaged> salvaged = salvage(path());
    if (!salvaged) continue;  // the page was the root of both tables' only way
    most = std::max(most, salvaged->records);
    EXPECT_TRUE(is_whole(path()).value()) << page;
  }
  EXPECT_EQ(most, kRecords) << "an index alone was damaged";
}

// As a byte that changed may leave it: SQLite does not look at such rules when it reads.
TEST_F(SalvageTest, WhatTheTablesDoNotTakeIsKeptBesideThem) {
  change("UPDATE records SET seconds = -1 WHERE id = 9");
  ASSERT_EQ(RecordStore::open(path())->repair()->records.size(), 1u);
  const std::string rule = "UPDATE sqlite_master SET sql = replace(sql, 'trace TEXT{}', 'trace TEXT{}')";
  change("PRAGMA writable_schema = ON; " + fmt::format(fmt::runtime(rule), " NOT NULL", ""));
  change("UPDATE records SET trace = NULL WHERE id IN (3, 5)");
  change("PRAGMA writable_schema = ON; " + fmt::format(fmt::runtime(rule), "", " NOT NULL"));
  ASSERT_FALSE(is_whole(path()).value());
  const Result<Salvaged> salvaged = salvage(path());
  ASSERT_TRUE(salvaged.has_value()) << salvaged.error().to_string();
  EXPECT_EQ(salvaged->records, kRecords - 3);
  EXPECT_EQ(salvaged->refused, 2);
  EXPECT_EQ(integer("SELECT count(*) FROM damaged_records WHERE reason LIKE 'it lacks%' AND id IN (3, 5)"),
            2);
  EXPECT_EQ(integer("SELECT count(*) FROM damaged_records WHERE seconds = -1 AND id = 9"), 1);
  expect_repaired(kRecords - 3);
}

TEST_F(SalvageTest, IdsFarApartAreFoundAndNeverGivenAgain) {
  change("UPDATE records SET id = 3000000 WHERE id = 200; UPDATE sqlite_sequence SET seq = 4000000");
  ASSERT_TRUE(salvage(path()).has_value());
  EXPECT_EQ(integer("SELECT max(id) FROM records"), 3'000'000);
  EXPECT_EQ(RecordStore::open(path())->append(sample_record(1)).value(), 4'000'001);
  // Where the damage hides how many were given, more are left out than a page holds.
  change("DELETE FROM sqlite_sequence");
  ASSERT_TRUE(salvage(path()).has_value());
  EXPECT_GT(RecordStore::open(path())->append(sample_record(1)).value(), 5'000'000);
}

// SQLite takes it for an empty one: everything would seem to be new.
TEST_F(SalvageTest, AnIndexThatLostItsRowsIsDamage) {
  const std::string whole = path() + ".whole";
  fs::copy_file(path(), whole);
  for (const char* index : {"sqlite_autoindex_tasks_1", "records_by_task", "records_by_time"}) {
    fs::copy_file(whole, path(), fs::copy_options::overwrite_existing);
    const int64_t page =
        integer(fmt::format("SELECT rootpage FROM sqlite_master WHERE name = '{}'", index).c_str());
    overwrite((page - 1) * kPage + 3, 2, '\0');  // the number of its cells
    for (const Error& error :
         {RecordStore::open(path()).error(), RecordStore::open_read_only(path()).error()})
      EXPECT_TRUE(error.message.starts_with("the records file " + path() + " is damaged: ")) << error.message;
    EXPECT_EQ(salvage(path())->records, kRecords) << index;
    expect_repaired(kRecords);
  }
}

TEST_F(SalvageTest, NothingIsLeftBesideAFileThatCannotBeRead) {
  fs::resize_file(path(), 3000);
  EXPECT_FALSE(RecordStore::open_read_only(path()).has_value());
  EXPECT_FALSE(is_whole(path()).has_value() && is_whole(path()).value());
  EXPECT_FALSE(salvage(path()).has_value());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path(), path());
}

TEST_F(SalvageTest, WhatIsPastSavingIsSaidAndNotToBeTriedAgain) {
  fs::resize_file(path(), 100);
  EXPECT_EQ(is_whole(path()).error().message,
            "nothing of the records file " + path() +
                " can be saved: its first page or those that say what it holds are damaged");
}

TEST_F(SalvageTest, NothingIsLeftBesideTheDamagedFile) {
  fs::resize_file(path(), fs::file_size(path()) / 2);
  const std::string original = salvage(path())->original;
  EXPECT_FALSE(fs::exists(original + "-wal"));
  EXPECT_FALSE(fs::exists(original + "-shm"));
}

TEST_F(SalvageTest, NothingIsMadeOfAFileThatCannotBeReadAtAll) {
  overwrite(0, kPage, 'x');
  EXPECT_FALSE(is_whole(path()).has_value());
  EXPECT_EQ(fs::file_size(path()) % kPage, 0u);
}

}  // namespace
}  // namespace lathe
