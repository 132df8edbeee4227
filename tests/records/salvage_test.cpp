#include "records/salvage.h"

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

class SalvageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<Record> records(kRecords, sample_record(1e-3));
    for (Record& record : records) record.created_at += &record - records.data();
    ASSERT_TRUE(RecordStore::open(path()).value().append_all(records).has_value());
  }

  std::string path() const { return (folder_.path() / "r.db").string(); }
  void overwrite(int64_t offset, int64_t bytes, char value) const {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << std::string(static_cast<size_t>(bytes), value);
  }
  // Everything that is left is as it was.
  void expect_repaired(int64_t least) const {
    EXPECT_TRUE(is_whole(path()).value());
    const RecordStore records = RecordStore::open(path()).value();
    EXPECT_TRUE(records.damage().tasks.empty());
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

TEST_F(SalvageTest, NothingIsMadeOfAFileThatCannotBeReadAtAll) {
  overwrite(0, kPage, 'x');
  EXPECT_FALSE(is_whole(path()).has_value());
  EXPECT_EQ(fs::file_size(path()) % kPage, 0u);
}

}  // namespace
}  // namespace lathe
