// What later samples of a record's program do to its time.
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "records/record_store.h"
#include "records/sample_record.h"

namespace lathe {
namespace {

class RecordTimesTest : public ::testing::Test {
 protected:
  RecordStore store() const {
    return std::move(RecordStore::open((folder_.path() / "records.db").string()).value());
  }

  TemporaryFolder folder_;
};

TEST_F(RecordTimesTest, LaterSamplesCountBesideTheFirst) {
  RecordStore records = store();
  std::vector<Record> batch{sample_record(1e-3), sample_record(2e-3), sample_record(3e-3)};
  batch[0].measurement = measurement_of({1e-3, 1.01e-3});  // lucky
  ASSERT_TRUE(records.append_all(batch).has_value());
  ASSERT_TRUE(records.add_samples(1, std::vector{1.9e-3, 1.8e-3, 2e-3, 1.9e-3, 1.9e-3, 1.9e-3}).has_value());
  ASSERT_TRUE(records.add_samples(2, std::vector{1.5e-3}).has_value());
  ASSERT_TRUE(records.add_samples(3, {}).has_value());
  EXPECT_EQ(records.by_id(1)->measurement,
            measurement_of({1e-3, 1.01e-3, 1.9e-3, 1.8e-3, 2e-3, 1.9e-3, 1.9e-3, 1.9e-3}));
  std::vector<double> both = batch[1].measurement.samples;
  both.push_back(1.5e-3);
  EXPECT_EQ(records.by_id(2)->measurement, measurement_of(both));
  EXPECT_EQ(records.by_id(3)->measurement, batch[2].measurement);
}

TEST_F(RecordTimesTest, ARecordThatFailedStaysSo) {
  RecordStore records = store();
  ASSERT_TRUE(records.append(sample_record(1e-3)).has_value());
  ASSERT_TRUE(records.mark_failed(1, {ErrorKind::wrong_result, "it is wrong"}, 1e-5).has_value());
  const Record failed = records.by_id(1).value();
  ASSERT_TRUE(records.add_samples(1, std::vector{1e-6}).has_value());
  EXPECT_EQ(records.by_id(1).value(), failed);
  EXPECT_EQ(records.add_samples(9, std::vector{1e-6}).error().kind, ErrorKind::not_found);
}

// The first, lucky time must not come back from a copy of the file made before.
TEST_F(RecordTimesTest, MergingTakesTheSamplesThatGoOn) {
  RecordStore records = store();
  Record before = sample_record(1e-3);
  before.measurement = measurement_of({1e-3});
  Record after = before;
  after.measurement = measurement_of({1e-3, 3e-3, 3e-3, 3e-3});
  ASSERT_TRUE(records.append(before).has_value());
  EXPECT_EQ(records.append_missing(std::vector{after})->changed, 1);
  EXPECT_EQ(records.by_id(1)->measurement, after.measurement);
  EXPECT_EQ(records.append_missing(std::vector{before})->changed, 0);
  EXPECT_EQ(records.by_id(1)->measurement, after.measurement);
}

}  // namespace
}  // namespace lathe
