// What the scheduler makes of a network's tasks when tuning gains nothing on some of them.
#include "tune/tune.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "ops/workloads.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"

namespace lathe::testing {
namespace {

// Three products of one kind and about as many FLOPs, so that each hopes for what the fastest reached.
std::vector<WeightedTask> products() {
  const auto workloads = parse_workloads(R"([
      {"name": "slow", "op": "matmul", "batch": 1, "m": 36, "n": 32, "k": 29},
      {"name": "gains", "op": "matmul", "batch": 1, "m": 37, "n": 32, "k": 29},
      {"name": "fast", "op": "matmul", "batch": 1, "m": 38, "n": 32, "k": 29}])",
                                         "test");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  std::vector<WeightedTask> tasks;
  for (const Workload& workload : *workloads) {
    Result<Task> task = make_task(workload, detect_target(), 1, true);
    EXPECT_TRUE(task) << task.error().to_string();
    tasks.push_back({std::move(*task), 1});
  }
  return tasks;
}

int64_t bytes_of_output(const Module& module) {
  for (const auto& buffer : module.buffers) {
    if (buffer.role == BufferRole::output) return buffer.bytes;
  }
  return 0;
}

TEST(TuneNetworkTasks, ATaskThatGainsNothingLeavesTrialsToTheOthers) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("lathe-tune-network-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  InProcessRunner runner;
  double gaining = 1;
  runner.seconds = [&](const Module& module) {
    switch (bytes_of_output(module) / (4 * 32)) {
      case 36: return 1.0;
      case 37: return gaining *= 0.98;
      default: return 0.01;
    }
  };
  Result<RecordStore> records = RecordStore::open(folder / "records.db");
  ASSERT_TRUE(records) << records.error().to_string();
  TuneOptions options;
  options.batch = 2;
  const auto results =
      tune_network_tasks(products(), "gradient", options, {.trials = 16}, runner, *records, {});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(results) << results.error().to_string();
  int64_t trials = 0;
  for (const CaseResult& result : *results) trials += result.progress.trials;
  EXPECT_EQ(trials, 48);
  EXPECT_LT(results->front().progress.trials * 4, trials * 3);
  EXPECT_GE(results->at(1).progress.trials, results->front().progress.trials);
}

}  // namespace
}  // namespace lathe::testing
