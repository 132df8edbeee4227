// Records files put together, cut down and repaired, as the commands do it.
#include "session/commands/records_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/hash.h"
#include "cli/command_line.h"
#include "records/own_record.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RecordsFiles : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  // A file of records that took so long, each recorded a millisecond after the one before.
  void write(const std::string& name, const std::vector<double>& seconds, int rows = 8) const {
    Result<RecordStore> store = RecordStore::open(path(name));
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    Record record = own_record(1, rows);
    const int64_t begin = record.created_at;
    std::vector<Record> records;
    for (const double each : seconds) {
      record.measurement = measurement_of({each, each});
      record.created_at = begin + static_cast<int64_t>(each * 1e6);
      records.push_back(record);
    }
    ASSERT_TRUE(store->append_all(records).has_value());
  }
  void change(const std::string& name, const char* statements) const {
    const Status done = Connection::open(path(name), true)->execute(statements);
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  // In the order of their ids.
  std::vector<double> seconds_in(const std::string& name) const {
    std::vector<double> seconds;
    const std::vector<Record> records = RecordStore::open_read_only(path(name))->find({}).value();
    for (const Record& record : records) seconds.push_back(record.measurement.seconds);
    return seconds;
  }
  Teller teller() {
    return [this](const std::string& sentence) { told_.push_back(sentence); };
  }

  TemporaryFolder folder_;
  std::vector<std::string> told_;
};

TEST_F(RecordsFiles, AMergeCountsWhatIsNewOfEachFile) {
  write("a.db", {1e-3, 2e-3});
  write("b.db", {2e-3, 3e-3});
  const Result<MergeOutcome> merged = merge_records(path("all.db"), {path("a.db"), path("b.db")}, teller());
  ASSERT_TRUE(merged.has_value()) << merged.error().to_string();
  EXPECT_TRUE(merged->complete.has_value());
  ASSERT_EQ(merged->files.size(), 2U);
  EXPECT_EQ(merged->files[0].path, path("a.db"));
  EXPECT_EQ(merged->files[0].records, 2U);
  EXPECT_EQ(merged->files[0].counts.added, 2);
  EXPECT_EQ(merged->files[1].records, 2U);
  EXPECT_EQ(merged->files[1].counts.added, 1);
  EXPECT_EQ(merged->files[1].counts.changed, 0);
  EXPECT_THAT(seconds_in("all.db"), ElementsAre(1e-3, 2e-3, 3e-3));
  EXPECT_THAT(seconds_in("b.db"), ElementsAre(2e-3, 3e-3));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(RecordsFiles, AFileMergedIntoItselfStaysAsItIs) {
  write("a.db", {1e-3, 2e-3});
  const Result<MergeOutcome> merged = merge_records(path("a.db"), {path("a.db"), path("a.db")}, {});
  ASSERT_TRUE(merged.has_value()) << merged.error().to_string();
  for (const MergedFile& file : merged->files) {
    EXPECT_EQ(file.records, 2U);
    EXPECT_EQ(file.counts.added, 0);
    EXPECT_EQ(file.counts.changed, 0);
  }
  EXPECT_THAT(seconds_in("a.db"), ElementsAre(1e-3, 2e-3));
}

TEST_F(RecordsFiles, AMergeOfNothingMakesAnEmptyFile) {
  const Result<MergeOutcome> merged = merge_records(path("all.db"), {}, {});
  ASSERT_TRUE(merged.has_value());
  EXPECT_TRUE(merged->files.empty());
  EXPECT_THAT(seconds_in("all.db"), IsEmpty());
}

// All are read before the first is written.
TEST_F(RecordsFiles, AFileThatCannotBeReadLeavesTheOthersAsTheyAre) {
  write("a.db", {1e-3});
  EXPECT_EQ(merge_records(path("all.db"), {path("a.db"), path("none.db")}, {}).error().to_string(),
            "there is no records file " + path("none.db"));
  EXPECT_FALSE(fs::exists(path("all.db")));
  EXPECT_FALSE(fs::exists(path("none.db")));
  std::ofstream(path("text.db")) << "nothing of ours";
  EXPECT_EQ(merge_records(path("all.db"), {path("a.db"), path("text.db")}, {}).error().to_string(),
            path("text.db") + " is not a Lathe records file: it is not an SQLite database");
  EXPECT_FALSE(fs::exists(path("all.db")));
  EXPECT_EQ(merge_records(path("no/all.db"), {path("a.db")}, {}).error().to_string(),
            "the records file " + path("no/all.db") + " cannot be made: the directory " + path("no") +
                " does not exist");
}

TEST_F(RecordsFiles, TasksUnderOtherNamesAreLeftOutAndNamed) {
  write("all.db", {1e-3});
  write("a.db", {2e-3});
  write("a.db", {4e-3}, 16);
  change("a.db",
         "UPDATE tasks SET name = 'other', dag = 'Z[a:8, b:8] = sum(k:8) X[a,k] * Y[k,b]', constants = "
         "'[\"Y\"]' WHERE rowid = 1");
  const Result<MergeOutcome> merged = merge_records(path("all.db"), {path("a.db")}, teller());
  ASSERT_TRUE(merged.has_value()) << merged.error().to_string();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(merged->files[0].counts.added, 1);
  ASSERT_FALSE(merged->complete.has_value());
  EXPECT_EQ(merged->complete.error().kind, ErrorKind::database);
  EXPECT_EQ(
      merged->complete.error().to_string(),
      fmt::format("the records of these tasks were left out, as {} knows the tasks under other names of "
                  "tensors and axes: {} (other) of {}",
                  path("all.db"), hash_to_string(own_record(1).task.hash), path("a.db")));
  EXPECT_THAT(seconds_in("all.db"), ElementsAre(1e-3, 4e-3));
}

TEST_F(RecordsFiles, WhatIsDamagedIsToldAndNotMerged) {
  write("a.db", {1e-3, 2e-3, 3e-3});
  change("a.db", "UPDATE records SET seconds = -1 WHERE id = 2");
  const Result<MergeOutcome> merged = merge_records(path("all.db"), {path("a.db")}, teller());
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(merged->files[0].records, 2U);
  EXPECT_THAT(seconds_in("all.db"), ElementsAre(1e-3, 3e-3));
  EXPECT_THAT(told_, ElementsAre(fmt::format(
                         "{0}: 1 record is damaged: record 2, its column seconds holds '-1.0'; the "
                         "rest is used, and `lathe records repair {0}` moves the damage aside",
                         path("a.db"))));
}

TEST_F(RecordsFiles, PruningKeepsSoManyOrTen) {
  write("a.db", {12e-3, 11e-3, 10e-3, 9e-3, 8e-3, 7e-3, 6e-3, 5e-3, 4e-3, 3e-3, 2e-3, 1e-3});
  const Result<PrunedFile> ten = prune_records(path("a.db"), std::nullopt, {});
  ASSERT_TRUE(ten.has_value()) << ten.error().to_string();
  EXPECT_EQ(ten->removed, 2);
  EXPECT_EQ(ten->left, 10);
  const Result<PrunedFile> two = prune_records(path("a.db"), 2, {});
  EXPECT_EQ(two->removed, 8);
  EXPECT_EQ(two->left, 2);
  EXPECT_THAT(seconds_in("a.db"), ElementsAre(2e-3, 1e-3));
  const Result<PrunedFile> none = prune_records(path("a.db"), 0, {});
  EXPECT_EQ(none->removed, 2);
  EXPECT_EQ(none->left, 0);
}

TEST_F(RecordsFiles, PruningMakesNoFile) {
  EXPECT_EQ(prune_records(path("none.db"), std::nullopt, {}).error().to_string(),
            "there is no records file " + path("none.db"));
  EXPECT_FALSE(fs::exists(path("none.db")));
}

TEST_F(RecordsFiles, PruningTellsOfDamageAndKeepsIt) {
  write("a.db", {1e-3, 2e-3, 3e-3});
  change("a.db", "UPDATE records SET seconds = -1 WHERE id = 2");
  const Result<PrunedFile> pruned = prune_records(path("a.db"), 1, teller());
  ASSERT_TRUE(pruned.has_value()) << pruned.error().to_string();
  EXPECT_EQ(pruned->removed, 1);
  EXPECT_EQ(pruned->left, 1);
  // Pruning and counting both meet it, and it is told once.
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_THAT(told_[0], StartsWith(path("a.db") + ": 1 record is damaged: record 2, "));
  EXPECT_EQ(Connection::open(path("a.db"), false)->integer("SELECT count(*) FROM records").value(), 2);
}

TEST_F(RecordsFiles, AFileInOrderNeedsNoRepair) {
  write("a.db", {1e-3, 2e-3});
  const Result<RepairedFile> repaired =
      repair_records(path("a.db"), [](const Salvaged&) { ADD_FAILURE() << "it is whole"; });
  ASSERT_TRUE(repaired.has_value()) << repaired.error().to_string();
  EXPECT_TRUE(repaired->moved.empty());
  EXPECT_EQ(repaired->left, 2);
  EXPECT_EQ(repair_records(path("none.db"), {}).error().to_string(),
            "there is no records file " + path("none.db"));
  EXPECT_FALSE(fs::exists(path("none.db")));
}

TEST_F(RecordsFiles, DamagedRecordsAreMovedAndCounted) {
  write("a.db", {1e-3, 2e-3, 3e-3});
  change("a.db", "UPDATE records SET cores = 0 WHERE id > 1");
  const Result<RepairedFile> repaired = repair_records(path("a.db"), {});
  ASSERT_TRUE(repaired.has_value()) << repaired.error().to_string();
  EXPECT_EQ(repaired->left, 1);
  EXPECT_EQ(repaired->moved.records, (std::map<int64_t, std::string>{{2, "its column cores holds '0'"},
                                                                     {3, "its column cores holds '0'"}}));
  EXPECT_TRUE(repaired->moved.tasks.empty());
  EXPECT_TRUE(repair_records(path("a.db"), {})->moved.empty());
}

// First the pages, then the rows that were on them.
TEST_F(RecordsFiles, DamagedPagesAreLeftBehindAndToldBeforeTheRecords) {
  std::vector<double> seconds;
  for (int i = 1; i <= 200; ++i) seconds.push_back(i * 1e-5);
  write("a.db", seconds);
  change("a.db", "UPDATE records SET cores = 0 WHERE id = 1");
  constexpr uintmax_t kPage = 4096;
  fs::resize_file(path("a.db"), fs::file_size(path("a.db")) / kPage / 2 * kPage);
  std::vector<Salvaged> salvaged;
  const Result<RepairedFile> repaired =
      repair_records(path("a.db"), [&](const Salvaged& saved) { salvaged.push_back(saved); });
  ASSERT_TRUE(repaired.has_value()) << repaired.error().to_string();
  ASSERT_EQ(salvaged.size(), 1U);
  EXPECT_EQ(salvaged[0].original, path("a.db.damaged"));
  EXPECT_TRUE(fs::exists(path("a.db.damaged")));
  EXPECT_GT(salvaged[0].records, 1);
  EXPECT_EQ(repaired->moved.records.size(), 1U);
  EXPECT_EQ(repaired->left, salvaged[0].records - 1);
}

}  // namespace
}  // namespace lathe
