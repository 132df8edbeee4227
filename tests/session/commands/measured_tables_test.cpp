#include "session/commands/measured_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/write_file.h"
#include "session/commands/table_case.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class MeasuredTablesTest : public SessionTest {
 protected:
  MeasuredTable table() const { return table_case(source(), 60); }
  void write(const MeasuredTable& table) const {
    ASSERT_TRUE(write_file(path("t.table"), {table_bytes(table)}));
  }
};

TEST_F(MeasuredTablesTest, AnOverviewCountsAndNamesTheOptimum) {
  MeasuredTable whole = table();
  whole.entries.back() = {TableEntry::Outcome::failed};
  write(whole);
  const TableOverview overview = table_overview(path("t.table")).value();
  EXPECT_NEAR(overview.optimum, 1e-6, 1e-9);
  EXPECT_EQ(overview.failed, 1);
  EXPECT_GT(overview.legal, 20);
  ASSERT_EQ(overview.near_optimum.size(), 4U);
  EXPECT_EQ(overview.near_optimum[0].second, 1) << "1.04 times as long is not 99 % as fast";
  EXPECT_EQ(overview.near_optimum[1].second, 2);
  EXPECT_EQ(overview.near_optimum[2].second, 3);
}

TEST_F(MeasuredTablesTest, ATableOfThisVersionIsVerified) {
  const MeasuredTable whole = table();
  write(whole);
  EXPECT_EQ(verify_table(path("t.table")).value(), whole.size());
}

TEST_F(MeasuredTablesTest, WhatTheSpaceNoLongerHasIsNamed) {
  MeasuredTable other = table();
  other.sketches[0].name = "gone";
  write(other);
  EXPECT_THAT(refusal_of(verify_table(path("t.table"))),
              HasSubstr("t.table: the space 'lathe' has no sketch 'gone'"));
  other = table();
  other.sketches[0].domain.parameters[0].name = "gone";
  write(other);
  EXPECT_THAT(refusal_of(verify_table(path("t.table"))), HasSubstr("has no choice 'gone'"));
  other = table();
  other.entries[0] = {};
  write(other);
  EXPECT_THAT(refusal_of(verify_table(path("t.table"))), HasSubstr("point 0 may be tried now"));
  other = table();
  other.task.hash ^= 1;
  write(other);
  EXPECT_THAT(refusal_of(verify_table(path("t.table"))), HasSubstr("its text is that of task"));
}

}  // namespace
}  // namespace lathe
