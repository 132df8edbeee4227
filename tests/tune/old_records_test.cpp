// A records file of before version 4, whose points are integers by their places: it opens, its trials are
// taken over at the points that they were, and what is measured from then on is kept by names beside them.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <iterator>

#include "base/compiler_version.h"
#include "base/temporary_folder.h"
#include "expr/parse.h"
#include "folders.h"
#include "target/all.h"
#include "tune/candidates.h"
#include "tune/in_process_runner.h"
#include "tune/task_tuner.h"

namespace lathe::testing {
namespace {

Task task_of_the_file() {
  const Dag dag = parse_dag("C[i:40, j:44] = sum(r:36) A[i,r] * B[r,j]").value();
  Target target = generic_target("x86-avx2");
  target.machine = "a processor";
  return make_task("product", dag, with_cores(target, 1), {"B"}, true).value();
}

void make_old_file(const std::string& path) {
  std::ifstream stream(LATHE_SOURCE_DIR "/tests/data/records_version3.sql");
  std::string sql{std::istreambuf_iterator<char>(stream), {}};
  const std::string placeholder = "'VERSION'";
  for (size_t at = sql.find(placeholder); at != std::string::npos; at = sql.find(placeholder, at))
    sql.replace(at, placeholder.size(), "'" + compiler_version() + "'");
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

// Keeps what it is told, and proposes a point that it was not told of.
class Listener : public Strategy {
 public:
  Listener(std::vector<Trial>& told, Point next) : told_(told), next_(std::move(next)) {}
  Proposal propose(int, const Predictor&) override { return {{next_}}; }
  void observe(std::span<const Trial> trials) override {
    told_.insert(told_.end(), trials.begin(), trials.end());
  }

 private:
  std::vector<Trial>& told_;
  Point next_;
};

TEST(OldRecords, TheirPointsMatchAndTheirFileGoesOn) {
  const Task task = task_of_the_file();
  const TemporaryFolder folder;
  const std::string path = folder.path() / "old.db";
  make_old_file(path);
  RecordStore records = RecordStore::open(path).value();
  const std::vector<Record> old = records.find({}).value();
  ASSERT_EQ(old.size(), 6u);

  const Space space = derive_space(task).value();
  Point next = space.preferred_points().back();
  next.integers.back() = 0;
  std::vector<Trial> told;
  TuneOptions options;
  options.strategy_factory = [&](const SearchSpace&, uint64_t) -> Result<std::unique_ptr<Strategy>> {
    return std::make_unique<Listener>(told, next);
  };
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  TaskTuner tuner = TaskTuner::create(task, options, evaluator, records).value();
  EXPECT_EQ(tuner.progress().trials, 6);
  EXPECT_EQ(tuner.progress().failed, 1);
  ASSERT_EQ(told.size(), 6u);
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].point.integers, old[i].point.integers) << i;
    EXPECT_EQ(space.sketch_of(told[i].point).name, old[i].point.sketch) << i;
    EXPECT_EQ(to_string(space.trace(told[i].point).value()), old[i].trace) << i;
  }

  ASSERT_TRUE(tuner.step(1, {}));
  const Record added = records.by_id(7).value();
  EXPECT_EQ(added.point.space, "lathe");
  EXPECT_EQ(added.point.choices, choices_of(space.sketch_of(next).domain, next.integers));
  told.clear();
  EXPECT_EQ(TaskTuner::create(task, options, evaluator, records).value().progress().trials, 7);
  ASSERT_EQ(told.size(), 7u);
  EXPECT_EQ(told.back().point, next);
}

}  // namespace
}  // namespace lathe::testing
