// Which of a task's programs wins where single measurements do not tell.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/temporary_folder.h"
#include "expr/parse.h"
#include "target/all.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"
#include "tune/tune.h"

namespace lathe::testing {
namespace {

TEST(Race, AProgramThatWasLuckyOnceLoses) {
  const TemporaryFolder folder;
  const Task product = make_task("product", parse_dag("C[i:33, j:47] = sum(k:29) A[i, k] * B[k, j]").value(),
                                 with_cores(detect_target().value(), 1))
                           .value();
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  std::map<std::string, int> measured;  // by the code
  std::string lucky;
  runner.seconds = [&](const Module& module) {
    const int times = ++measured[module.object];
    if (measured.size() == 3) lucky = module.object;
    if (module.object != lucky) return 1e-3 + 1e-6 * times;
    return times == 1 ? 0.97e-3 : 1.04e-3 + 1e-6 * times;
  };
  Result<RecordStore> store = RecordStore::open((folder.path() / "lucky.db").string());
  ASSERT_TRUE(store) << store.error().to_string();
  const auto results = tune_cases({product}, {}, {.trials = 6}, evaluator, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  ASSERT_GE(measured.size(), 4U);
  EXPECT_NEAR(results->front().progress.best_seconds, 1e-3, 1e-5);
  EXPECT_EQ(results->front().winner->record, store->best({}).value()->id);
  // No record has the lucky time for its own any more, and nothing was lost.
  const std::vector<Record> records = store->find({}).value();
  for (const Record& record : records) {
    EXPECT_TRUE(record.measurement.ok());
    EXPECT_GE(record.measurement.seconds, 1e-3);
  }
}

}  // namespace
}  // namespace lathe::testing
