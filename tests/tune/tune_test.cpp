// What the scheduler makes of a network's tasks when tuning gains nothing on some of them.
#include "tune/tune.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>

#include "expr/parse.h"
#include "ops/workloads.h"
#include "search/all.h"
#include "target/all.h"
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
    Result<Task> task = make_task(workload, with_cores(detect_target().value(), 1), true);
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
  LocalEvaluator evaluator(runner);
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
      tune_network_tasks(products(), "gradient", options, {.trials = 16}, evaluator, *records, {});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(results) << results.error().to_string();
  int64_t trials = 0;
  for (const CaseResult& result : *results) trials += result.progress.trials;
  EXPECT_EQ(trials, 48);
  EXPECT_LT(results->front().progress.trials * 4, trials * 3);
  EXPECT_GE(results->at(1).progress.trials, results->front().progress.trials);
}

TEST(TuneNetworkTasks, ASecondRunThatHasNothingToTryMeasuresNothing) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("lathe-tune-twice-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  Result<RecordStore> records = RecordStore::open(folder / "records.db");
  ASSERT_TRUE(records) << records.error().to_string();
  for (const bool is_first : {true, false}) {
    InProcessRunner runner;
    LocalEvaluator evaluator(runner);
    std::vector<std::string> concluded;
    const auto results = tune_network_tasks(products(), "gradient", {}, {.trials = 4}, evaluator, *records,
                                            [&](const TuneState& state) {
                                              if (state.is_concluding) concluded.push_back(state.name);
                                            });
    ASSERT_TRUE(results) << results.error().to_string();
    EXPECT_EQ(runner.runs > 0, is_first);
    EXPECT_EQ(records->count({}).value(), 12);
    EXPECT_EQ(concluded,
              is_first ? (std::vector<std::string>{"slow", "gains", "fast"}) : std::vector<std::string>());
    for (const CaseResult& result : *results) {
      EXPECT_EQ(result.winner.has_value(), is_first);
      EXPECT_GT(result.progress.best_seconds, 0);
    }
  }
  std::filesystem::remove_all(folder);
}

// Ends a run at that many measurements.
std::function<bool()> after_runs(const InProcessRunner& runner, int runs) {
  return [&runner, runs] { return runner.runs >= runs; };
}

class StoppedRun : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("lathe-stopped-run-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    Result<RecordStore> records = RecordStore::open(folder_ / "records.db");
    ASSERT_TRUE(records) << records.error().to_string();
    records_.emplace(std::move(*records));
    for (const WeightedTask& product : products()) cases_.push_back(product.task);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<CaseResult> tune_cases_until(const std::function<bool()>& stop) {
    const auto results = tune_cases(cases_, {}, {.trials = 6, .stop = stop}, evaluator_, *records_, {});
    EXPECT_TRUE(results) << results.error().to_string();
    return results.value_or(std::vector<CaseResult>());
  }

  std::filesystem::path folder_;
  std::optional<RecordStore> records_;
  std::vector<Task> cases_;
  InProcessRunner runner_;
  LocalEvaluator evaluator_{runner_};
};

TEST_F(StoppedRun, WhatWasMeasuredIsKeptAndTheNextRunGoesOn) {
  // The first case's batches of four and two, whose second begins with the best one anew, and the next case's
  // first candidates.
  const std::vector<CaseResult> stopped = tune_cases_until(after_runs(runner_, 9));
  ASSERT_EQ(stopped.size(), 2U);
  EXPECT_EQ(stopped[0].progress.trials, 6);
  EXPECT_EQ(stopped[1].progress.trials, 2);
  EXPECT_GT(stopped[0].progress.best_seconds, 0);
  EXPECT_FALSE(stopped[0].winner) << "nothing is compared in full any more";
  EXPECT_EQ(records_->count({}).value(), 8);
  EXPECT_EQ(runner_.runs, 9);

  const std::vector<CaseResult> whole = tune_cases_until({});
  ASSERT_EQ(whole.size(), 3U);
  for (const CaseResult& result : whole) EXPECT_EQ(result.progress.trials, 6);
  EXPECT_TRUE(whole[1].winner);
  EXPECT_EQ(records_->count({}).value(), 18);
}

TEST_F(StoppedRun, NoCaseTakesLongerThanItMay) {
  TuneBudget budget{.trials = 6};
  budget.case_seconds = 0;
  const auto results = tune_cases(cases_, {}, budget, evaluator_, *records_, {});
  ASSERT_TRUE(results) << results.error().to_string();
  ASSERT_EQ(results->size(), 3U) << "the next case has a time of its own";
  for (const CaseResult& result : *results) EXPECT_EQ(result.progress.trials, 0);
}

TEST_F(StoppedRun, ATimeThatIsUsedUpLeavesNoCaseOut) {
  const TuneBudget budget{.trials = 6, .deadline = Deadline::in(0)};
  const auto results = tune_cases(cases_, {}, budget, evaluator_, *records_, {});
  ASSERT_TRUE(results) << results.error().to_string();
  ASSERT_EQ(results->size(), 3U);
  const auto network = tune_network_tasks(products(), "round-robin", {}, budget, evaluator_, *records_, {});
  ASSERT_TRUE(network) << network.error().to_string();
  EXPECT_EQ(network->size(), products().size());
  EXPECT_EQ(runner_.runs, 0);
}

TEST_F(StoppedRun, CasesThatAreOneTaskHaveOneWinner) {
  cases_.push_back(cases_.front());
  cases_.back().name = "twin";
  const std::vector<CaseResult> results = tune_cases_until({});
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[3].name, "twin");
  ASSERT_TRUE(results[0].winner && results[3].winner);
  EXPECT_EQ(results[3].winner->record, results[0].winner->record);
  EXPECT_EQ(results[3].progress.best_seconds, results[0].progress.best_seconds);
  EXPECT_EQ(records_->count({}).value(), 18);
}

// A strategy whose space is used up after that many points.
class ShortStrategy : public Strategy {
 public:
  ShortStrategy(std::unique_ptr<Strategy> whole, int left) : whole_(std::move(whole)), left_(left) {}
  Proposal propose(int count, const Predictor& predictor) override {
    const int taken = std::min(count, left_);
    left_ -= taken;
    Proposal proposal;
    if (taken > 0) proposal = whole_->propose(taken, predictor);
    proposal.exhausted = proposal.exhausted || taken < count;
    return proposal;
  }
  void observe(std::span<const Trial> trials) override { whole_->observe(trials); }

 private:
  std::unique_ptr<Strategy> whole_;
  int left_;
};

// A task under two names, of which the first runs out of trials, as one does whose time is over.
class TunedTwins : public StoppedRun {
 protected:
  void SetUp() override {
    StoppedRun::SetUp();
    cases_.assign(2, cases_.front());
    cases_.back().name = "twin";
  }

  std::vector<CaseResult> tune_twins(int trials_of_first, int64_t trials) {
    int tuners = 0;
    TuneOptions options;
    options.batch = 2;
    options.strategy_factory = [&](SearchSpace space, uint64_t seed) -> Result<std::unique_ptr<Strategy>> {
      LATHE_TRY(auto whole, make_strategy("random", std::move(space), seed));
      const int left = tuners++ == 0 ? trials_of_first : INT_MAX;
      return std::make_unique<ShortStrategy>(std::move(whole), left);
    };
    const auto results = tune_cases(cases_, options, {.trials = trials}, evaluator_, *records_,
                                    [&](const TuneState& state) { conclusions_ += state.is_concluding; });
    EXPECT_TRUE(results) << results.error().to_string();
    return results.value_or(std::vector<CaseResult>());
  }

  int conclusions_ = 0;
};

TEST_F(TunedTwins, WhatOnlyTheLaterMeasuredIsTheResultOfBoth) {
  const std::vector<CaseResult> results = tune_twins(0, 4);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(conclusions_, 1);
  for (const CaseResult& result : results) {
    EXPECT_EQ(result.progress.trials, 4);
    EXPECT_GT(result.progress.best_seconds, 0);
    ASSERT_TRUE(result.winner);
    EXPECT_EQ(result.winner->record, results[0].winner->record);
    EXPECT_TRUE(result.failures.empty());
  }
}

TEST_F(TunedTwins, WhatOnlyTheLaterFailedAtIsToldOfBoth) {
  runner_.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
    std::ranges::fill(outputs.front(), std::byte{0xff});
  };
  const std::vector<CaseResult> results = tune_twins(0, 4);
  ASSERT_EQ(results.size(), 2U);
  for (const CaseResult& result : results) {
    EXPECT_EQ(result.progress.failed, 4);
    EXPECT_FALSE(result.winner);
    EXPECT_FALSE(result.failures.empty());
  }
}

TEST_F(TunedTwins, TheBestOfBothAreMeasuredAgainAndTheSlowestPaceIsKept) {
  // The first's records 1 to 3, the twin's 4 to 7. Before a second batch and after a slow one the best
  // program is measured anew: the machine takes 2 times as long then for the first and 4 for the twin.
  const std::vector<double> times = {1.0,  0.9,  1.8,  1.68, 1.8,         // at pace 1: 1.0, 0.9, 0.84
                                     0.95, 0.86, 3.44, 4.0,  4.0, 3.44};  // 0.95, 0.86, 1.0, 1.0
  size_t measured = 0;
  runner_.seconds = [&](const Module&) { return measured < times.size() ? times[measured++] : 0.125; };
  const std::vector<CaseResult> results = tune_twins(3, 7);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(measured, times.size());
  std::vector<int64_t> measured_again;
  const std::vector<Record> recorded = records_->find({}).value();
  for (const Record& record : recorded) {
    if (record.measurement.seconds == 0.125) measured_again.push_back(record.id);
  }
  EXPECT_EQ(measured_again, (std::vector<int64_t>{2, 3, 5}));
  for (const CaseResult& result : results) {
    EXPECT_EQ(result.progress.trials, 7);
    EXPECT_DOUBLE_EQ(result.progress.slowest_pace, 4);
    EXPECT_EQ(result.progress.best_seconds, 0.125);
  }
}

TEST_F(StoppedRun, ACaseThatCannotBeTunedLeavesTheOthersAlone) {
  Dag dag = parse_dag("C[i:4] = A[i] / (A[i] - A[i])").value();
  cases_.insert(cases_.begin() + 1,
                make_task("poles", std::move(dag), with_cores(detect_target().value(), 1)).value());
  const std::vector<CaseResult> results = tune_cases_until({});
  ASSERT_EQ(results.size(), 4U);
  ASSERT_TRUE(results[1].untunable);
  EXPECT_EQ(results[1].name, "poles");
  EXPECT_EQ(results[1].untunable->message,
            "output 'C' is infinite or no number for random inputs: programs cannot be compared");
  for (const size_t i : {0, 2, 3}) {
    EXPECT_EQ(results[i].progress.trials, 6);
    EXPECT_TRUE(results[i].winner);
  }
}

TEST_F(StoppedRun, ATaskThatCannotBeTunedLeavesTheNetworksOthersItsTrials) {
  const WeightedTask odd{make_task("poles", parse_dag("C[i:4] = A[i] / (A[i] - A[i])").value(),
                                   with_cores(detect_target().value(), 1))
                             .value(),
                         1};
  std::vector<WeightedTask> tasks = products();
  tasks.insert(tasks.begin() + 1, odd);
  int64_t each = 0;
  for (const char* scheduler : {"gradient", "gradient-patient", "ucb", "round-robin"}) {
    each += 6;  // beside what the records hold
    const auto results =
        tune_network_tasks(tasks, scheduler, {}, {.trials = each}, evaluator_, *records_, {});
    ASSERT_TRUE(results) << results.error().to_string();
    ASSERT_EQ(results->size(), 4U);
    int64_t trials = 0;
    for (const CaseResult& result : *results) trials += result.progress.trials;
    EXPECT_EQ(trials, 4 * each);
    EXPECT_EQ(results->at(1).progress.trials, 0);
    ASSERT_TRUE(results->at(1).untunable);
    EXPECT_EQ(results->at(1).untunable->message,
              "output 'C' is infinite or no number for random inputs: programs cannot be compared");
    for (const size_t i : {0, 2, 3}) EXPECT_GT(results->at(i).progress.trials, 0);
  }
  const auto none = tune_network_tasks({odd, odd}, "gradient", {}, {.trials = 6}, evaluator_, *records_, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(none.error().where, "poles");
  EXPECT_EQ(none.error().message,
            "output 'C' is infinite or no number for random inputs: programs cannot be compared");
}

// Annealing proposes 64 at once.
TEST_F(StoppedRun, AFirstBatchLeavesTheOtherTasksTheirTrials) {
  TuneOptions options;
  options.strategy = "annealing";
  const auto results =
      tune_network_tasks(products(), "gradient-patient", options, {.trials = 6}, evaluator_, *records_, {});
  ASSERT_TRUE(results) << results.error().to_string();
  for (const CaseResult& result : *results) EXPECT_EQ(result.progress.trials, 6) << result.name;
}

// As where a candidate's data or code are more than the machine has, from the third trial on.
TEST_F(StoppedRun, ACaseForWhichThereIsNoMemoryKeepsWhatItHasAndLeavesTheOthersAlone) {
  int runs = 0;
  runner_.seconds = [&](const Module& module) {
    if (bytes_of_output(module) == 4 * 32 * 37 && ++runs > 2) throw std::bad_alloc();
    return 1.0;
  };
  const std::vector<CaseResult> results = tune_cases_until({});
  ASSERT_EQ(results.size(), 3U);
  const CaseResult& short_of_memory = results[1];
  EXPECT_EQ(short_of_memory.name, "gains");
  ASSERT_TRUE(short_of_memory.untunable);
  EXPECT_EQ(short_of_memory.untunable->message, "the machine has not enough memory for it");
  EXPECT_EQ(short_of_memory.progress.trials, 2);
  ASSERT_TRUE(short_of_memory.winner)
      << "of the two that were measured, although there is no memory to race them";
  for (const size_t i : {0, 2}) {
    EXPECT_EQ(results[i].progress.trials, 6);
    EXPECT_FALSE(results[i].untunable);
    EXPECT_TRUE(results[i].winner);
  }
  EXPECT_EQ(records_->count({}).value(), 14);
}

TEST_F(StoppedRun, ATaskForWhichThereIsNoMemoryLeavesTheNetworksOthersItsTrials) {
  int runs = 0;
  runner_.seconds = [&](const Module& module) {
    if (bytes_of_output(module) == 4 * 32 * 37 && ++runs > 2) throw std::bad_alloc();
    return 1.0;
  };
  const auto results =
      tune_network_tasks(products(), "round-robin", {}, {.trials = 6}, evaluator_, *records_, {});
  ASSERT_TRUE(results) << results.error().to_string();
  ASSERT_TRUE(results->at(1).untunable);
  EXPECT_EQ(results->at(1).progress.trials, 2);
  int64_t trials = 0;
  for (const CaseResult& result : *results) trials += result.progress.trials;
  EXPECT_EQ(trials, 18);
}

TEST_F(StoppedRun, AWinnerIsNotComparedOnceTheRunIsToEnd) {
  // All trials, the paces of the three second batches, and the first turn of the first case's race.
  const std::vector<CaseResult> results = tune_cases_until(after_runs(runner_, 18 + 3 + 1));
  ASSERT_EQ(results.size(), 3U);
  for (const CaseResult& result : results) EXPECT_FALSE(result.winner);
  EXPECT_EQ(runner_.runs, 22);
}

TEST_F(StoppedRun, ANetworksTasksKeepWhatTheyHave) {
  TuneOptions options;
  options.batch = 2;
  const auto tune = [&](const std::function<bool()>& stop) {
    return tune_network_tasks(products(), "round-robin", options, {.trials = 4, .stop = stop}, evaluator_,
                              *records_, {});
  };
  const auto stopped = tune(after_runs(runner_, 5));
  ASSERT_TRUE(stopped) << stopped.error().to_string();
  int64_t trials = 0;
  for (const CaseResult& result : *stopped) trials += result.progress.trials;
  EXPECT_EQ(trials, 5);
  EXPECT_EQ(records_->count({}).value(), 5);
  EXPECT_EQ(runner_.runs, 5);
  EXPECT_TRUE(tune(after_runs(runner_, 0))->empty()) << "not one task is prepared";
  const auto whole = tune({});
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(records_->count({}).value(), 12);
}

}  // namespace
}  // namespace lathe::testing
