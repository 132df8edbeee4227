// Records on their way to the file, and which of them are the best.
#include "tune/recorder.h"

#include <gtest/gtest.h>

#include "records/sample_record.h"

namespace lathe::testing {
namespace {

TEST(BestOf, AreTheFastestOfEachIdAndNotMuchSlower) {
  const std::vector<RankedRecord> ranked = {{1.05, 3}, {1.0, 1}, {1.5, 2}, {1.01, 1}, {1.02, 4}};
  const std::vector<RankedRecord> best = best_of(ranked, 10);
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].id, 1);
  EXPECT_EQ(best[1].id, 4);
  EXPECT_EQ(best[2].id, 3);
  EXPECT_EQ(best_of(ranked, 1).size(), 1u);
  EXPECT_TRUE(best_of({}, 3).empty());
}

TEST(Recorder, WritesWhatItKeepsAndRanksWhatDidNotFail) {
  RecordStore records = RecordStore::open(":memory:").value();
  Recorder recorder(records);
  Record right = sample_record(1e-3);
  Record wrong = right;
  wrong.measurement = failed_measurement(ErrorKind::crash, "it crashed");
  recorder.add(right);
  recorder.add(wrong);
  EXPECT_EQ(records.count({}).value(), 0);
  ASSERT_TRUE(recorder.flush_if_due());
  EXPECT_EQ(records.count({}).value(), 0) << "not yet";
  ASSERT_TRUE(recorder.flush());
  ASSERT_TRUE(recorder.flush());
  EXPECT_EQ(records.count({}).value(), 2) << "each once";
  ASSERT_EQ(recorder.ranked().size(), 1u);
  EXPECT_EQ(recorder.ranked()[0].seconds, right.measurement.seconds);
  recorder.take_over({7, 99});
  recorder.correct_since(1, 2);
  EXPECT_EQ(recorder.ranked()[0].seconds, right.measurement.seconds);
  EXPECT_EQ(recorder.ranked()[1].seconds, 3.5);
}

}  // namespace
}  // namespace lathe::testing
