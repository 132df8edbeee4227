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

TEST(BestOf, TheUntunedProgramIsSecondWhereItMayBeTheBest) {
  std::vector<RankedRecord> ranked = {{1.3, 3, true}, {1.0, 1}, {1.01, 4}, {1.02, 5}};
  const auto ids = [&](size_t count) {
    std::vector<int64_t> found;
    for (const RankedRecord& record : best_of(ranked, count)) found.push_back(record.id);
    return found;
  };
  EXPECT_EQ(ids(10), (std::vector<int64_t>{1, 3, 4, 5}));
  EXPECT_EQ(ids(2), (std::vector<int64_t>{1, 3}));
  ranked[0].seconds = 0.9;
  EXPECT_EQ(ids(2), (std::vector<int64_t>{3}));
  ranked[0].seconds = 1.6;
  EXPECT_EQ(ids(10), (std::vector<int64_t>{1, 4, 5}));
}

TEST(Recorder, WritesWhatItKeepsAndRanksWhatDidNotFail) {
  RecordStore records = RecordStore::open(":memory:").value();
  Recorder recorder(records, sample_record(1e-3).trace);
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
  EXPECT_TRUE(recorder.ranked()[0].is_untuned);
  Record other = sample_record(7);
  other.id = 99;
  other.trace = "inline A";
  recorder.take_over(other);
  EXPECT_FALSE(recorder.ranked()[1].is_untuned);
  recorder.correct_since(1, 2);
  EXPECT_EQ(recorder.ranked()[0].seconds, right.measurement.seconds);
  EXPECT_EQ(recorder.ranked()[1].seconds, 3.5);
}

}  // namespace
}  // namespace lathe::testing
