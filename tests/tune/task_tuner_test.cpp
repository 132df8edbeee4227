// Tuning from end to end on a small matmul: a real worker, a real records file.
#include "tune/task_tuner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "ops/workloads.h"
#include "records/task_text.h"
#include "target/detect.h"
#include "tune/tune.h"

namespace lathe::testing {
namespace {

constexpr int kTrials = 12;

Task small_matmul() {
  const auto workloads = parse_workloads(
      R"([{"name": "small", "op": "matmul", "batch": 1, "m": 33, "n": 47, "k": 29}])", "test");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  Result<Task> task = make_task(workloads->front(), detect_target(), 1, true);
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

class TuneTask : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("lathe-tune-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    MeasureOptions options;
    options.worker_path = LATHE_BINARY_DIR "/bin/lathe-worker";
    options.timeout_seconds = 60;
    options.timing.sample_seconds = 1e-4;
    Result<Measurer> measurer = Measurer::start(options);
    ASSERT_TRUE(measurer) << measurer.error().to_string();
    measurer_ = std::make_unique<Measurer>(std::move(*measurer));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // All records of a run in a file of that name.
  std::vector<Record> tune(const std::string& file, uint64_t seed, int64_t& measured) {
    Result<RecordStore> store = RecordStore::open(folder_ / file);
    EXPECT_TRUE(store) << store.error().to_string();
    const int64_t before = store->count({}).value_or(-1);
    TuneOptions options;
    options.seed = seed;
    const auto results = tune_cases({small_matmul()}, options, {.trials = kTrials}, *measurer_, *store, {});
    EXPECT_TRUE(results) << results.error().to_string();
    EXPECT_EQ(results->front().progress.trials, kTrials);
    EXPECT_EQ(results->front().progress.failed, 0);
    EXPECT_GT(results->front().progress.best_seconds, 0);
    measured = store->count({}).value_or(-1) - before;
    return store->find({}).value_or(std::vector<Record>());
  }

  std::filesystem::path folder_;
  std::unique_ptr<Measurer> measurer_;
};

std::vector<std::string> traces_of(const std::vector<Record>& records) {
  std::vector<std::string> traces;
  for (const Record& record : records) traces.push_back(record.trace);
  return traces;
}

TEST_F(TuneTask, EveryTrialIsVerifiedAndKeptAndNoneIsRepeated) {
  int64_t measured = 0;
  const std::vector<Record> records = tune("first.db", 1, measured);
  EXPECT_EQ(measured, kTrials);
  ASSERT_EQ(records.size(), static_cast<size_t>(kTrials));
  for (const Record& record : records) {
    EXPECT_TRUE(record.measurement.ok()) << record.trace;
    EXPECT_EQ(record.task.hash, hash_of(small_matmul()));
  }
  std::vector<std::string> traces = traces_of(records);
  std::ranges::sort(traces);
  EXPECT_EQ(std::ranges::adjacent_find(traces), traces.end()) << *std::ranges::adjacent_find(traces);

  const std::vector<Record> again = tune("first.db", 1, measured);
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(again.size(), records.size());
}

// Off: with a fitted model the proposals follow measured times; compare the first batch only.
TEST_F(TuneTask, DISABLED_OneSeedGivesTheSameProposals) {
  int64_t measured = 0;
  const std::vector<std::string> first = traces_of(tune("a.db", 7, measured));
  EXPECT_EQ(first, traces_of(tune("b.db", 7, measured)));
  EXPECT_NE(first, traces_of(tune("c.db", 8, measured)));
}

}  // namespace
}  // namespace lathe::testing
