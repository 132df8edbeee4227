#include "session/commands/record_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "session/commands/measured_tables.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

class RecordTableTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    request_.source = source();
    request_.points = 24;
    request_.records = path("r.db");
    request_.out = path("t.table");
    request_.worker = worker_;
  }

  RecordTableRequest request_;
};

TEST_F(RecordTableTest, EveryPointIsMeasuredOnceAndWritten) {
  int64_t told = 0;
  RecordTableListener listener;
  listener.progress = [&](const TableProgress& progress) { told = progress.recorded; };
  const Result<RecordedTable> recorded = record_table(request_, listener);
  ASSERT_TRUE(recorded) << refusal_of(recorded);
  EXPECT_TRUE(recorded->is_written);
  EXPECT_EQ(recorded->progress.recorded, recorded->progress.points);
  EXPECT_GT(told, 0);
  const Result<TableOverview> overview = table_overview(request_.out);
  ASSERT_TRUE(overview) << refusal_of(overview);
  EXPECT_EQ(overview->table.size(), recorded->progress.points);
  EXPECT_EQ(overview->table.name, "mm lathe");
  EXPECT_EQ(overview->table.machine, target_.machine);
  EXPECT_NEAR(overview->optimum / recorded->progress.best_seconds, 1, 1e-3);
  const Result<int64_t> verified = verify_table(request_.out);
  EXPECT_TRUE(verified) << refusal_of(verified);
}

TEST_F(RecordTableTest, ASecondRunTakesOverWhatTheFirstHasRecorded) {
  request_.seconds = 0;
  const Result<RecordedTable> none = record_table(request_, {});
  ASSERT_TRUE(none) << refusal_of(none);
  EXPECT_FALSE(none->is_written);
  EXPECT_FALSE(std::filesystem::exists(request_.out));
  request_.seconds = {};
  ASSERT_TRUE(record_table(request_, {})->is_written);
  std::filesystem::remove(request_.out);
  bool has_measured = false;
  RecordTableListener listener;
  listener.progress = [&](const TableProgress& progress) {
    has_measured = has_measured || progress.recorded < progress.points;
  };
  EXPECT_TRUE(record_table(request_, listener)->is_written);
  EXPECT_FALSE(has_measured);
}

TEST_F(RecordTableTest, WhatIsNoOneOperatorOrNoSpaceIsRefused) {
  request_.space = "ansatz";
  EXPECT_THAT(refusal_of(record_table(request_, {})), ::testing::HasSubstr("there is no space 'ansatz'"));
  write_workload(R"({"name": "a", "op": "expression", "text": "B[i:9] = A[i]"},
                    {"name": "b", "op": "expression", "text": "B[i:9] = A[i] + 1.0"})");
  EXPECT_THAT(refusal_of(record_table(request_, {})),
              ::testing::HasSubstr("a table is of one operator, and 2 match"));
}

}  // namespace
}  // namespace lathe
