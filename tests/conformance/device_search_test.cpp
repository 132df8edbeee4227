// A search on a device: candidates of the space are measured in a worker process, and all of them are right.
#include <gmock/gmock.h>

#include "base/temporary_folder.h"
#include "evaluate/local_evaluator.h"
#include "expr/parse.h"
#include "folders.h"
#include "measure/measurer.h"
#include "target/gpu/opencl.h"
#include "tune/tune.h"

namespace lathe::testing {
namespace {

class DeviceSearch : public ::testing::TestWithParam<const char*> {};

TEST_P(DeviceSearch, EveryTrialIsRight) {
  const std::optional<Target> target = detect_opencl();
  if (!target) GTEST_SKIP() << "there is no OpenCL device";
  const std::vector<Task> tasks = {make_task("searched", parse_dag(GetParam()).value(), *target).value()};
  const TemporaryFolder folder;
  Result<RecordStore> records = RecordStore::open(folder.path() / "records.db");
  ASSERT_TRUE(records) << records.error().to_string();
  Result<Measurer> measurer =
      Measurer::start({.worker_path = LATHE_BINARY_DIR "/bin/lathe-worker", .timeout_seconds = 60});
  ASSERT_TRUE(measurer) << measurer.error().to_string();
  LocalEvaluator evaluator(*measurer);
  TuneOptions options;
  options.batch = 4;
  const auto results = tune_cases(tasks, options, {.trials = 16}, evaluator, *records, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ(results->front().progress.trials, 16);
  for (const FailureCount& failure : results->front().failures)
    ADD_FAILURE() << failure.count << " times: " << failure.first.message;
  EXPECT_GT(results->front().progress.best_seconds, 0);
  ASSERT_TRUE(results->front().winner);
  EXPECT_FALSE(results->front().winner->only_sampled);
}

INSTANTIATE_TEST_SUITE_P(
    OpenCl, DeviceSearch,
    ::testing::Values("C[i:100, j:99] = sum(k:101) A[i,k] * B[k,j]",
                      "C[f:8, y:12, x:13] = sum(c:5, r:3, s:3) I[c,y+r,x+s] * W[f,c,r,s]",
                      "M[i:30] = max(k:50) X[i,k]\nE[i:30, j:50] = exp(X[i,j] - M[i])\n"
                      "S[i:30] = sum(k:50) E[i,k]\nY[i:30, j:50] = E[i,j] / S[i]"));

}  // namespace
}  // namespace lathe::testing
