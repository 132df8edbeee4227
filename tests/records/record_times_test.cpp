// What later measurements of a record's program do to its time.
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "records/record_store.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

class RecordTimesTest : public testing::Test {
 protected:
  RecordStore store() const {
    return std::move(RecordStore::open((folder_.path() / "records.db").string()).value());
  }

  TemporaryFolder folder_;
};

TEST_F(RecordTimesTest, OfTwoMeasurementsTheBetterOneStays) {
  RecordStore records = store();
  const std::vector<Record> batch{sample_record(2e-3), sample_record(3e-3)};
  ASSERT_TRUE(records.append_all(batch).has_value());
  const Measurement better = measurement_of({1.1e-3, 1e-3, 1.2e-3});
  ASSERT_TRUE(records.improve(2, better).has_value());
  ASSERT_TRUE(records.improve(1, measurement_of({2.5e-3})).has_value());
  ASSERT_TRUE(records.improve(1, failed_measurement(ErrorKind::crash, "it crashed")).has_value());
  Record expected = batch[1];
  expected.id = 2;
  expected.measurement = better;
  EXPECT_EQ(records.by_id(2).value(), expected);
  EXPECT_EQ(records.by_id(1).value().measurement, batch[0].measurement);
  EXPECT_EQ(records.best({}).value()->id, 2);
  EXPECT_EQ(records.improve(9, better).error().kind, ErrorKind::not_found);
}

TEST_F(RecordTimesTest, ATimeThatSettlesIsTakenWhetherMoreOrLess) {
  RecordStore records = store();
  ASSERT_TRUE(records.append_all(std::vector{sample_record(1e-3), sample_record(2e-3)}).has_value());
  const Measurement more = measurement_of({3e-3});
  const Measurement less = measurement_of({0.5e-3});
  ASSERT_TRUE(records.settle(1, more).has_value());
  ASSERT_TRUE(records.settle(2, less).has_value());
  ASSERT_TRUE(records.settle(2, failed_measurement(ErrorKind::crash, "it crashed")).has_value());
  EXPECT_EQ(records.by_id(1).value().measurement, more);
  EXPECT_EQ(records.by_id(2).value().measurement, less);
  ASSERT_TRUE(records.mark_failed(2, {ErrorKind::wrong_result, "it is wrong"}, 1e-5).has_value());
  ASSERT_TRUE(records.settle(2, more).has_value());
  EXPECT_FALSE(records.by_id(2).value().measurement.ok());
  EXPECT_EQ(records.settle(9, less).error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace lathe
