// What a records file leaves out as damaged is told once, in a sentence that says what to do.
#include "session/open_records.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OpenRecords : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    append(
        {record("split C i [2]\n", 3e-3), record("split C i [3]\n", 2e-3), record("split C i [4]\n", 1e-3)});
  }
  std::string told_as(const std::string& damage) const {
    return fmt::format("{0}: {1}; the rest is used, and `lathe records repair {0}` moves the damage aside",
                       path("r.db"), damage);
  }
};

TEST_F(OpenRecords, WhatIsWholeIsNotSpokenOf) {
  const Result<RecordStore> store = open_records(path("r.db"), teller());
  EXPECT_EQ(store->find({})->size(), 3U);
  EXPECT_EQ(open_records_to_read(path("r.db"), teller())->count({}).value(), 3);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(OpenRecords, OneRecordAndSeveralAreCounted) {
  change_records("UPDATE records SET seconds = -1 WHERE id = 2");
  EXPECT_EQ(open_records(path("r.db"), teller())->count({}).value(), 2);
  change_records("UPDATE records SET cores = 0 WHERE id = 1");
  EXPECT_EQ(open_records_to_read(path("r.db"), teller())->count({}).value(), 1);
  EXPECT_THAT(
      told_, ElementsAre(told_as("1 record is damaged: record 2, its column seconds holds '-1.0'"),
                         told_as("2 records are damaged: record 1, its column cores holds '0', and 1 more")));
}

TEST_F(OpenRecords, TheSameIsNotToldAgain) {
  change_records("UPDATE records SET seconds = -1 WHERE id = 2");
  const Result<RecordStore> store = open_records(path("r.db"), teller());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(store->count({}).value(), 2);
  EXPECT_EQ(told_.size(), 1U);
  // What is found later alone is.
  change_records("UPDATE records SET cores = 0 WHERE id = 3");
  EXPECT_EQ(store->find({})->size(), 1U);
  EXPECT_EQ(store->find({})->size(), 1U);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[1], told_as("1 record is damaged: record 3, its column cores holds '0'"));
}

// Whoever records a task again finds its text damaged, before any record is.
TEST_F(OpenRecords, ADamagedTaskIsNamedByItsHash) {
  const TaskText task = record("", 1).task;
  change_records("UPDATE tasks SET free_layouts = 'perhaps'");
  Result<RecordStore> store = open_records(path("r.db"), teller());
  ASSERT_TRUE(store->known_as(task).has_value());
  EXPECT_THAT(told_, ElementsAre(told_as(fmt::format("1 task is damaged: {}, its column free_layouts holds "
                                                     "'perhaps'",
                                                     hash_to_string(task.hash)))));
  EXPECT_EQ(store->count({}).value(), 3);
}

TEST_F(OpenRecords, NobodyNeedsToListen) {
  change_records("UPDATE records SET seconds = -1 WHERE id = 2");
  EXPECT_EQ(open_records(path("r.db"), {})->count({}).value(), 2);
}

TEST_F(OpenRecords, OnlyTheOneThatWritesMakesAFile) {
  EXPECT_EQ(refusal_of(open_records_to_read(path("new.db"), teller())),
            "there is no records file " + path("new.db"));
  EXPECT_FALSE(std::filesystem::exists(path("new.db")));
  EXPECT_EQ(refusal_of(open_records(path("new.db"), teller())), "");
  EXPECT_TRUE(std::filesystem::exists(path("new.db")));
  EXPECT_EQ(refusal_of(open_records(path("w.json"), teller())),
            path("w.json") + " is not a Lathe records file: it is not an SQLite database");
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace lathe
