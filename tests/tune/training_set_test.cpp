#include "tune/training_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/temporary_folder.h"
#include "cost/gbt.h"
#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

class TrainingSetTest : public ::testing::Test {
 protected:
  static Task product(int size) {
    const std::string text = "C[i:" + std::to_string(size) + ", j:32] = sum(k:32) A[i,k] * B[k,j]";
    return make_task("p" + std::to_string(size), parse_dag(text).value(), generic_target("x86-avx2")).value();
  }
  // A record of a program whose loop j is split by that factor.
  static Record record(const Task& task, const std::string& trace, double seconds) {
    Record record;
    record.task = text_of(task);
    record.target = task.target.name;
    record.cores = 1;
    record.trace = trace;
    record.point = {"lathe", "by hand", {}};
    record.measurement =
        seconds > 0 ? measurement_of({seconds}) : failed_measurement(ErrorKind::timeout, "too slow");
    record.strategy = "by hand";
    return record;
  }
  void SetUp() override {
    for (const int size : {16, 64}) {
      const Task task = product(size);
      for (const int factor : {2, 4, 8, 16, 32})
        records_.push_back(record(task, "split C j [" + std::to_string(factor) + "]\nvectorize C j.1\n",
                                  1e-3 * size / factor));
      records_.push_back(record(task, "", 0));
      records_.push_back(record(task, "split C x [2]\n", 1));
    }
    store_.emplace(RecordStore::open((folder_.path() / "r.db").string()).value());
    ASSERT_TRUE(store_->append_all(records_));
  }
  TrainingSet set(const TrainingOptions& options = {}) { return training_set({&*store_}, options).value(); }

  TemporaryFolder folder_;
  std::vector<Record> records_;
  std::optional<RecordStore> store_;
};

TEST_F(TrainingSetTest, HasTheProgramsOfEveryTask) {
  const TrainingSet all = set();
  ASSERT_EQ(all.tasks.size(), 2U);
  EXPECT_EQ(all.samples.size(), 12) << "one of each task names a loop that there is not";
  EXPECT_EQ(all.left_out, 2);
  EXPECT_EQ(std::ranges::count(all.samples.tasks, 0), 6);
  EXPECT_EQ(std::ranges::count_if(all.samples.seconds, [](double s) { return std::isinf(s); }), 2);
}

TEST_F(TrainingSetTest, TakesTheBestOfTooManyAndLeavesTasksOut) {
  const TrainingSet few = set({.most_per_task = 2});
  EXPECT_EQ(few.samples.size() + few.left_out, 4);
  for (const int task : {0, 1}) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < few.samples.seconds.size(); ++i)
      if (few.samples.tasks[i] == task) best = std::min(best, few.samples.seconds[i]);
    EXPECT_NEAR(best, few.tasks[static_cast<size_t>(task)].name == "p16" ? 5e-4 : 2e-3, 1e-9);
  }
  const TrainingSet one = set({.takes = [](const TaskText& task) { return task.name != "p16"; }});
  ASSERT_EQ(one.tasks.size(), 1U);
  EXPECT_EQ(one.tasks[0].name, "p64");
}

TEST_F(TrainingSetTest, AModelThatLearnedTheRecordsOrdersThem) {
  const TrainingSet all = set();
  const auto model = make_gbt({.rounds = 100, .child_weight = 1e-3});
  ASSERT_TRUE(model->fit(all.samples));
  const std::vector<Judgement> judgements = judge(*model, all).value();
  ASSERT_EQ(judgements.size(), 2U);
  for (const Judgement& each : judgements) {
    EXPECT_EQ(each.records, 6);
    EXPECT_GT(each.ordered_pairs, 0.9);
    EXPECT_EQ(each.quality_of_best, 1);
  }
}

}  // namespace
}  // namespace lathe
