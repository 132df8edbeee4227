// Records that two files hold and know different things of: what the one that is merged into takes over.
#include <gtest/gtest.h>

#include "records/record_store.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

Record record_of(double seconds, int64_t created_at) {
  Record record = sample_record(seconds);
  record.created_at = created_at;
  return record;
}

TEST(Merge, WhatIsKnownBetterElsewhereIsTakenOver) {
  RecordStore records = RecordStore::open(":memory:").value();
  Record broken = record_of(1e-3, 4);
  broken.measurement = failed_measurement(ErrorKind::crash, "it crashed");
  const std::vector<Record> ours = {record_of(1e-3, 1), record_of(1e-3, 2), record_of(1e-3, 3), broken};
  ASSERT_TRUE(records.append_all(ours).has_value());

  Record wrong = record_of(0, 1);
  wrong.measurement = failed_measurement(ErrorKind::wrong_result, "it is wrong");
  wrong.tolerance = 1e-5;
  const Record faster = record_of(5e-4, 2);
  const MergeCounts counts =
      records.append_missing(std::vector{wrong, faster, record_of(2e-3, 3), record_of(1e-4, 4)}).value();
  EXPECT_EQ(counts.added, 0);
  EXPECT_EQ(counts.changed, 2);
  EXPECT_EQ(records.by_id(1)->measurement.failure, wrong.measurement.failure);
  EXPECT_EQ(records.by_id(1)->tolerance, wrong.tolerance);
  EXPECT_EQ(records.by_id(2)->measurement, faster.measurement);
  EXPECT_EQ(records.by_id(3)->measurement, ours[2].measurement);
  EXPECT_EQ(records.by_id(4)->measurement.failure, broken.measurement.failure);
  EXPECT_EQ(records.append_missing(std::vector{wrong, faster})->changed, 0);
}

TEST(Merge, WhatWasWrongByAStricterToleranceIsNotTakenOver) {
  for (const double strict : {1e-7, 1e-5}) {
    RecordStore records = RecordStore::open(":memory:").value();
    Record ours = record_of(1e-3, 1);
    ours.tolerance = 1e-6;
    ASSERT_TRUE(records.append(ours).has_value());
    Record theirs = record_of(0, 1);
    theirs.measurement = failed_measurement(ErrorKind::wrong_result, "it is wrong");
    theirs.tolerance = strict;
    EXPECT_EQ(records.append_missing({&theirs, 1})->changed, strict < 1e-6 ? 0 : 1);
  }
}

}  // namespace
}  // namespace lathe
