#include "tune/recorded_evaluator.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "expr/parse.h"
#include "schedule/prefix_replay.h"
#include "target/all.h"

namespace lathe {
namespace {

// Gives each program another time, and counts.
class CountingEvaluator : public Evaluator {
 public:
  MeasureSource source() const override { return MeasureSource::measured; }
  int parallelism() const override { return 1; }
  Status prepare(const CheckedTask&, const Watch&) override { return {}; }
  Result<std::vector<Evaluated>> evaluate(std::span<const MeasureJob> jobs, const Watch&,
                                          const EvaluationListener& listener) override {
    std::vector<Evaluated> outcomes;
    for (size_t i = 0; i < jobs.size(); ++i) {
      ++evaluated;
      outcomes.push_back({measurement_of({1e-6 * evaluated}), 0.5});
      LATHE_TRY_STATUS(listener.done(i, outcomes.back()));
    }
    return outcomes;
  }
  Result<FullCheck> check_in_full(const MeasureJob&, const Watch&) override { return FullCheck{}; }

  int evaluated = 0;
};

class RecordedEvaluatorTest : public ::testing::Test {
 protected:
  RecordedEvaluatorTest()
      : task_(make_task("p", parse_dag("C[i:8, j:8] = sum(k:8) A[i,k] * B[k,j]").value(),
                        generic_target("x86-avx2"))
                  .value()),
        store_(RecordStore::open((folder_.path() / "r.db").string()).value()) {}

  MeasureJob job(int factor) const {
    Trace trace = parse_trace("split C j [" + std::to_string(factor) + "]\n").value();
    Program program = PrefixReplay(task_).apply(trace).value();
    Written written{std::move(trace), static_cast<uint64_t>(factor), std::move(program)};
    return {{std::make_shared<const Task>(task_)}, std::make_shared<const Written>(std::move(written))};
  }
  std::vector<double> seconds(RecordedEvaluator& evaluator, const std::vector<int>& factors) const {
    std::vector<MeasureJob> jobs;
    for (const int factor : factors) jobs.push_back(job(factor));
    std::vector<double> told;
    EvaluationListener listener;
    listener.done = [&](size_t i, const Evaluated& outcome) -> Status {
      EXPECT_EQ(i, told.size()) << "in their order";
      EXPECT_EQ(outcome.wall_seconds, 0.5);
      told.push_back(outcome.measurement.seconds);
      return {};
    };
    EXPECT_EQ(evaluator.evaluate(jobs, {}, listener)->size(), factors.size());
    return told;
  }

  TemporaryFolder folder_;
  Task task_;
  RecordStore store_;
  CountingEvaluator inner_;
};

TEST_F(RecordedEvaluatorTest, AProgramIsMeasuredOnce) {
  RecordedEvaluator evaluator = RecordedEvaluator::create(task_, inner_, store_).value();
  const std::vector<double> first = seconds(evaluator, {2, 4});
  const std::vector<double> more = seconds(evaluator, {4, 8, 2, 1});
  EXPECT_EQ(inner_.evaluated, 4);
  EXPECT_EQ(more[0], first[1]);
  EXPECT_EQ(more[2], first[0]);
  RecordedEvaluator later = RecordedEvaluator::create(task_, inner_, store_).value();
  EXPECT_EQ(seconds(later, {1, 8}), (std::vector<double>{more[3], more[1]}));
  EXPECT_EQ(inner_.evaluated, 4) << "the records know them all";
}

}  // namespace
}  // namespace lathe
