// Tuning from end to end on a small matmul: a real worker, a real records file.
#include "tune/task_tuner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "cost/none.h"
#include "expr/parse.h"
#include "folders.h"
#include "lower/programs.h"
#include "measure/measurer.h"
#include "ops/workloads.h"
#include "search/strategies/random.h"
#include "target/all.h"
#include "target/detect.h"
#include "task/task_text.h"
#include "tune/choose_trace.h"
#include "tune/in_process_runner.h"
#include "tune/task_records.h"
#include "tune/tune.h"

namespace lathe::testing {
namespace {

constexpr int kTrials = 12;

Task small_matmul() {
  const auto workloads = parse_workloads(
      R"([{"name": "small", "op": "matmul", "batch": 1, "m": 33, "n": 47, "k": 29}])", "test");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  Result<Task> task = make_task(workloads->front(), with_cores(detect_target().value(), 1), true);
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
    evaluator_ = std::make_unique<LocalEvaluator>(*measurer_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // All records of a run in a file of that name.
  std::vector<Record> tune(const std::string& file, uint64_t seed, int64_t& measured,
                           CandidateRunner& runner) {
    LocalEvaluator evaluator(runner);
    Result<RecordStore> store = RecordStore::open(folder_ / file);
    EXPECT_TRUE(store) << store.error().to_string();
    const int64_t before = store->count({}).value_or(-1);
    TuneOptions options;
    options.seed = seed;
    options.batch = 4;
    const auto results = tune_cases({small_matmul()}, options, {.trials = kTrials}, evaluator, *store, {});
    EXPECT_TRUE(results) << results.error().to_string();
    result_ = results->front();
    EXPECT_EQ(result_.progress.trials, kTrials);
    EXPECT_GT(result_.progress.best_seconds, 0);
    measured = store->count({}).value_or(-1) - before;
    return store->find({}).value_or(std::vector<Record>());
  }

  CaseResult result_;  // of the last run
  std::filesystem::path folder_;
  std::unique_ptr<Measurer> measurer_;
  std::unique_ptr<LocalEvaluator> evaluator_;
};

std::vector<std::string> traces_of(const std::vector<Record>& records) {
  std::vector<std::string> traces;
  for (const Record& record : records) traces.push_back(record.trace);
  return traces;
}

TEST_F(TuneTask, EveryTrialIsVerifiedAndKeptAndNoneIsRepeated) {
  int64_t measured = 0;
  const std::vector<Record> records = tune("first.db", 1, measured, *measurer_);
  EXPECT_EQ(measured, kTrials);
  EXPECT_EQ(result_.progress.failed, 0);
  ASSERT_EQ(records.size(), static_cast<size_t>(kTrials));
  for (const Record& record : records) {
    EXPECT_TRUE(record.measurement.ok()) << record.trace;
    EXPECT_EQ(record.task.hash, hash_of(small_matmul()));
  }
  std::vector<std::string> traces = traces_of(records);
  std::ranges::sort(traces);
  EXPECT_EQ(std::ranges::adjacent_find(traces), traces.end()) << *std::ranges::adjacent_find(traces);

  const std::vector<Record> again = tune("first.db", 1, measured, *measurer_);
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(again.size(), records.size());
}

// In most points of this space some integer plays no part.
TEST_F(TuneTask, OfTheSameProgramsPointsOneIsMeasured) {
  Task task = task_of("C[i:64, j:64] = sum(r:64, s:64) select(r <= i && s <= j, A[r, s], 0.0)");
  task.target = with_cores(detect_target().value(), 1);
  Result<RecordStore> store = RecordStore::open(folder_ / "sums.db");
  ASSERT_TRUE(store) << store.error().to_string();
  const auto results = tune_cases({task}, {}, {.trials = 8}, *evaluator_, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  std::vector<std::string> traces = traces_of(*store->find({}));
  EXPECT_GT(traces.size(), 3U);
  std::ranges::sort(traces);
  EXPECT_EQ(std::ranges::adjacent_find(traces), traces.end()) << *std::ranges::adjacent_find(traces);
}

// Neither the direct program nor im2col is tried, and no record of the plain convolution is the task's.
TEST_F(TuneTask, AConvolutionThatIsRequiredByWinogradIsComputedSo) {
  const std::string shape = R"("batch": 1, "height": 7, "width": 7, "in_channels": 16, "out_channels": 24,
      "kernel": 3, "stride": 1, "padding": 1}])";
  const auto workload_of = [&](const std::string& op) {
    return parse_workloads(R"([{"name": "c", "op": ")" + op + "\", " + shape, "test").value().front();
  };
  const Task task = make_task(workload_of("conv2d_winograd"), small_matmul().target, true).value();
  EXPECT_NE(hash_of(task), hash_of(make_task(workload_of("conv2d"), task.target, true).value()));
  Result<RecordStore> store = RecordStore::open(folder_ / "winograd.db");
  ASSERT_TRUE(store) << store.error().to_string();
  TuneOptions options;
  options.batch = 4;
  const auto results = tune_cases({task}, options, {.trials = kTrials}, *evaluator_, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_GT(results->front().progress.best_seconds, 0);
  const std::vector<Record> records = store->find({}).value();
  EXPECT_EQ(records.size(), static_cast<size_t>(kTrials));
  for (const Record& record : records) {
    EXPECT_TRUE(record.trace.starts_with("rewrite winograd O m")) << record.trace;
    EXPECT_EQ(record.task, text_of(task));
  }
  const Result<ChosenTrace> untuned = choose_trace(task, nullptr);
  ASSERT_TRUE(untuned) << untuned.error().to_string();
  EXPECT_TRUE(to_string(untuned->trace.value()).starts_with("rewrite winograd O m"));
  EXPECT_EQ(to_string(naive_trace(task).value()), "rewrite winograd O m=2\n");
}

TEST_F(TuneTask, OneSeedGivesTheSameProposals) {
  InProcessRunner runner;
  int64_t measured = 0;
  const std::vector<std::string> first = traces_of(tune("a.db", 7, measured, runner));
  EXPECT_EQ(first.size(), static_cast<size_t>(kTrials));
  EXPECT_EQ(first, traces_of(tune("b.db", 7, measured, runner)));
  EXPECT_NE(first, traces_of(tune("c.db", 8, measured, runner)));
}

// The third of a batch takes so long that its caller gets time.
class SlowThird : public InProcessRunner {
 public:
  Result<Measurement> measure(const Module& module, const MeasureInputs& inputs) override {
    if (++measured_ == 3) {
      inputs.on_long_wait();
      while_waiting();
    }
    return InProcessRunner::measure(module, inputs);
  }
  std::function<void()> while_waiting;

 private:
  int measured_ = 0;
};

TEST_F(TuneTask, WhatIsMeasuredDoesNotWaitForASlowCandidateToBeWritten) {
  Result<RecordStore> store = RecordStore::open(folder_ / "slow.db");
  ASSERT_TRUE(store) << store.error().to_string();
  SlowThird runner;
  LocalEvaluator evaluator(runner);
  int64_t written = 0;
  runner.while_waiting = [&] {
    const Result<RecordStore> reader = RecordStore::open_read_only(folder_ / "slow.db");
    ASSERT_TRUE(reader) << reader.error().to_string();
    written = reader->count({}).value();
  };
  Result<TaskTuner> tuner = TaskTuner::create(small_matmul(), {}, evaluator, *store);
  ASSERT_TRUE(tuner) << tuner.error().to_string();
  EXPECT_TRUE(tuner->step(4, {}));
  EXPECT_EQ(written, 2);
  EXPECT_EQ(store->count({}).value(), 4);
}

Task renamed_matmul() {
  const Task first = small_matmul();
  std::vector<std::string> constants;
  if (first.arguments[1].is_constant) constants.emplace_back("Y");
  Result<Task> renamed = make_task("renamed", *parse_dag("Z[a:33, b:47] = sum(k:29) X[a, k] * Y[k, b]"),
                                   first.target, constants, true);
  EXPECT_TRUE(renamed) << renamed.error().to_string();
  EXPECT_EQ(hash_of(*renamed), hash_of(first));
  return std::move(*renamed);
}

// Slow from the second batch on and quiet again when the best are measured once more.
class SlowForAWhile : public InProcessRunner {
 public:
  SlowForAWhile() {
    seconds = [this, hashed = seconds](const Module& module) {
      const double quiet = 1e-3 + hashed(module);
      ++calls_;
      const bool is_slow = calls_ > kFirst && calls_ <= kFirst + 2 * (1 + 4 + 1);
      (is_slow ? slow : fast).push_back(quiet);
      return (is_slow ? 5 : 1) * quiet;
    };
  }
  // Candidates of the first batch; two more of 4 follow, the best so far before and after each.
  static constexpr int kFirst = 4;
  std::vector<double> fast;  // what each would take on the quiet machine
  std::vector<double> slow;

 private:
  int calls_ = 0;
};

TEST_F(TuneTask, ATaskUnderOtherNamesGoesOnWhereTheFirstOneStopped) {
  int64_t measured = 0;
  tune("names.db", 1, measured, *measurer_);
  Result<RecordStore> store = RecordStore::open(folder_ / "names.db");
  ASSERT_TRUE(store) << store.error().to_string();
  const auto results = tune_cases({renamed_matmul()}, {}, {.trials = kTrials + 4}, *evaluator_, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ(results->front().name, "renamed");
  EXPECT_EQ(results->front().progress.trials, kTrials + 4);
  EXPECT_EQ(results->front().progress.failed, 0);
  EXPECT_EQ(store->count({}).value(), kTrials + 4);
}

TEST_F(TuneTask, TwoThatBeginATaskUnderTwoNamesUseTheFirstOnes) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(folder_ / "both.db");
  ASSERT_TRUE(store) << store.error().to_string();
  Result<TaskTuner> first = TaskTuner::create(small_matmul(), {}, evaluator, *store);
  Result<TaskTuner> second = TaskTuner::create(renamed_matmul(), {}, evaluator, *store);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(second->step(2, {}));
  EXPECT_TRUE(first->step(2, {}));
  EXPECT_EQ(store->count({}).value(), 4);
}

// The best of all is found although it was measured while the machine was slow, at a time worse than any of
// the first batch.
TEST_F(TuneTask, WhatASlowMachineMeasuredIsComparedAtItsPace) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SlowForAWhile runner;
    int64_t measured = 0;
    tune(std::to_string(seed) + ".db", seed, measured, runner);
    EXPECT_EQ(measured, kTrials);  // a second measurement is no trial
    EXPECT_GT(result_.progress.slowest_pace, 1.5);
    const double best = *std::ranges::min_element(runner.slow);
    const auto first = std::span(runner.fast).first(SlowForAWhile::kFirst);
    if (best >= *std::ranges::min_element(first) || 5 * best <= *std::ranges::max_element(first)) continue;
    EXPECT_DOUBLE_EQ(result_.progress.best_seconds, best);
    return;
  }
  FAIL() << "no seed found its best program while the machine was slow";
}

// Every measurement takes up to half as long again, whatever the one before took.
TEST_F(TuneTask, NoiseIsNeverTakenForMoreThanItIs) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  Rng rng(1);
  runner.seconds = [&, hashed = runner.seconds](const Module& module) {
    return (1e-3 + 1e-2 * hashed(module)) * (1 + 0.05 * static_cast<double>(rng.between(0, 10)));
  };
  Result<RecordStore> store = RecordStore::open(folder_ / "noise.db");
  ASSERT_TRUE(store) << store.error().to_string();
  TuneOptions options;
  options.batch = 2;
  const auto results = tune_cases({small_matmul()}, options, {.trials = 60}, evaluator, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_GT(results->front().progress.slowest_pace, 1.2);
  EXPECT_LE(results->front().progress.slowest_pace, 1.5);
}

// The third candidate is the fastest, and wrong in one element that no sampled point shows.
class WrongWinner : public InProcessRunner {
 public:
  WrongWinner() {
    seconds = [this](const Module& module) {
      if (module.object == wrong_) return 1e-9;
      const auto [known, is_new] =
          seconds_.emplace(module.object, 1e-6 * static_cast<double>(seconds_.size() + 1));
      return known->second;
    };
    spoil = [this](const Module& module, const MeasureInputs& inputs, const Outputs& outputs) {
      if (runs == 3) {
        wrong_ = module.object;
        place_ = place_that_sampling_misses(inputs, outputs);
      }
      if (module.object == wrong_ && place_ >= 0) spoil_element(outputs, place_);
    };
  }
  bool found_a_place() const { return place_ >= 0; }

 private:
  std::string wrong_;
  int64_t place_ = -1;
  std::map<std::string, double> seconds_;
};

TEST_F(TuneTask, AWinnerThatIsWrongFailsAndTheNextBestTakesItsPlace) {
  WrongWinner runner;
  int64_t measured = 0;
  const std::vector<Record> records = tune("wrong.db", 1, measured, runner);
  ASSERT_TRUE(runner.found_a_place());
  EXPECT_EQ(measured, kTrials);
  EXPECT_EQ(result_.progress.failed, 1);
  ASSERT_TRUE(records[2].measurement.failure);
  EXPECT_EQ(records[2].measurement.failure->kind, ErrorKind::wrong_result);
  ASSERT_TRUE(result_.winner);
  EXPECT_EQ(result_.winner->record, records[0].id);
  EXPECT_LE(result_.winner->largest_difference, result_.winner->tolerance);
  EXPECT_EQ(result_.progress.best_seconds, 1e-6);
}

TEST_F(TuneTask, AStrategyAndAModelOfOnesOwnTakeThePlaceOfTheNames) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(folder_ / "own.db");
  ASSERT_TRUE(store) << store.error().to_string();
  TuneOptions options;
  options.strategy = "mine";
  options.cost_model = "mine too";
  options.seed = 5;
  int strategies = 0;
  int models = 0;
  options.strategy_factory = [&](SearchSpace space, uint64_t seed) {
    EXPECT_EQ(seed, 5U);
    ++strategies;
    return make_random(std::move(space), seed);
  };
  options.cost_model_factory = [&] {
    ++models;
    return make_no_cost_model();
  };
  Result<TaskTuner> tuner = TaskTuner::create(small_matmul(), options, evaluator, *store);
  ASSERT_TRUE(tuner) << tuner.error().to_string();
  EXPECT_EQ(strategies, 1);
  EXPECT_EQ(models, 1);
  ASSERT_TRUE(tuner->step(3, {}));
  const auto records = store->find({});
  ASSERT_TRUE(records && records->size() == 3);
  for (const Record& record : *records) EXPECT_EQ(record.strategy, "mine");

  options.strategy_factory = [](const SearchSpace&, uint64_t) {
    return fail(ErrorKind::unsupported, "this space is too large to list");
  };
  tuner = TaskTuner::create(small_matmul(), options, evaluator, *store);
  ASSERT_FALSE(tuner);
  EXPECT_EQ(tuner.error().to_string(), "this space is too large to list");
}

CaseResult tune_small_matmul(std::optional<double> tolerance, InProcessRunner& runner, RecordStore& records) {
  LocalEvaluator evaluator(runner);
  TuneOptions options;
  options.tolerance = tolerance;
  const auto results = tune_cases({small_matmul()}, options, {.trials = 5}, evaluator, records, {});
  EXPECT_TRUE(results) << results.error().to_string();
  return results->front();
}

TEST_F(TuneTask, WhatWasWrongByAStricterToleranceIsTriedAgain) {
  InProcessRunner runner;
  Result<RecordStore> store = RecordStore::open(folder_ / "tolerance.db");
  ASSERT_TRUE(store) << store.error().to_string();
  const auto tune_with = [&](std::optional<double> tolerance) {
    return tune_small_matmul(tolerance, runner, *store);
  };
  const CaseResult strict = tune_with(0.0);
  EXPECT_EQ(strict.progress.failed, 5);
  ASSERT_FALSE(strict.failures.empty());
  EXPECT_EQ(strict.failures.front().first.kind, ErrorKind::wrong_result);
  EXPECT_EQ(tune_with(0.0).progress.trials, 5);
  EXPECT_EQ(store->count({}).value(), 5);

  const CaseResult usual = tune_with(std::nullopt);
  EXPECT_EQ(usual.progress.trials, 5);
  EXPECT_EQ(usual.progress.failed, 0);
  EXPECT_GT(usual.progress.best_seconds, 0);
  EXPECT_EQ(store->count({}).value(), 10);
  // What is right by the usual tolerance needs no second trial by a looser one.
  EXPECT_EQ(tune_with(0.5).progress.failed, 0);
  EXPECT_EQ(store->count({}).value(), 10);
}

// What is wrong by one tolerance is wrong by a stricter one.
TEST_F(TuneTask, WhatWasWrongByALooserToleranceIsNotTriedAgain) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  runner.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
    for (int64_t place = 0; place < 33 * 47; ++place) spoil_element(outputs, place);
  };
  Result<RecordStore> store = RecordStore::open(folder_ / "stricter.db");
  ASSERT_TRUE(store) << store.error().to_string();
  for (const auto tolerance : {std::optional(1e-3), std::optional<double>(), std::optional(1e-3)}) {
    TuneOptions options;
    options.tolerance = tolerance;
    const auto results = tune_cases({small_matmul()}, options, {.trials = 3}, evaluator, *store, {});
    ASSERT_TRUE(results) << results.error().to_string();
    EXPECT_EQ(results->front().progress.failed, 3);
    EXPECT_EQ(store->count({}).value(), 3);
  }
}

TEST_F(TuneTask, WhatWasRightByALooserToleranceIsTriedAgainAndKept) {
  InProcessRunner runner;
  Result<RecordStore> store = RecordStore::open(folder_ / "looser.db");
  ASSERT_TRUE(store) << store.error().to_string();
  const auto tune_with = [&](std::optional<double> tolerance) {
    return tune_small_matmul(tolerance, runner, *store);
  };
  const auto timed = [&] {
    return std::ranges::count_if(store->find({}).value(), [](const Record& r) { return r.measurement.ok(); });
  };
  runner.seconds = [](const Module&) { return 1e-9; };
  ASSERT_TRUE(tune_with(0.5).winner);
  EXPECT_EQ(timed(), 5);
  runner.seconds = [](const Module&) { return 1e-6; };
  const CaseResult usual = tune_with(std::nullopt);
  EXPECT_EQ(store->count({}).value(), 10);
  EXPECT_EQ(usual.progress.best_seconds, 1e-6) << "the others' time says nothing by this tolerance";
  ASSERT_TRUE(usual.winner);
  EXPECT_LT(usual.winner->tolerance, 1e-3);
  const CaseResult strict = tune_with(0.0);
  EXPECT_EQ(strict.progress.failed, 5);
  EXPECT_FALSE(strict.winner);
  EXPECT_EQ(timed(), 10) << "what is right by the tolerance it was measured with stays so";
  EXPECT_EQ(tune_with(std::nullopt).progress.best_seconds, 1e-6);
  EXPECT_EQ(tune_with(0.5).progress.best_seconds, 1e-9);
  EXPECT_EQ(store->count({}).value(), 15);
}

// A processor's times say nothing of another's.
TEST_F(TuneTask, RecordsOfAnotherProcessorAreLeftAsTheyAreAndNotTakenForOurs) {
  InProcessRunner runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(folder_ / "processors.db");
  ASSERT_TRUE(store) << store.error().to_string();
  Task elsewhere = small_matmul();
  elsewhere.target.machine = "another processor";
  runner.seconds = [](const Module&) { return 1e-9; };
  ASSERT_TRUE(tune_cases({elsewhere}, {}, {.trials = 5}, evaluator, *store, {}));
  const std::vector<Record> before = store->find({}).value();
  ASSERT_EQ(before.size(), 5U);

  runner.seconds = [](const Module&) { return 1e-3; };
  const auto results = tune_cases({small_matmul()}, {}, {.trials = 4}, evaluator, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ(results->front().progress.trials, 4);
  EXPECT_EQ(results->front().progress.best_seconds, 1e-3);
  const std::vector<Record> after = store->find({}).value();
  ASSERT_EQ(after.size(), 9U);
  EXPECT_TRUE(std::ranges::equal(before, std::span(after).first(5)));

  // To compile with, they are better than nothing, and our own are better than they.
  EXPECT_EQ(best_record_of(small_matmul(), *store)->value().machine, detect_target().value().machine);
  Task third = small_matmul();
  third.target.machine = "a third processor";
  EXPECT_EQ(best_record_of(third, *store)->value().machine, "another processor");
}

// Two candidates are slow to end and the others compute something wrong.
TEST_F(TuneTask, WithoutAnyValidProgramTheUsualFailureIsNamed) {
  class Failing : public InProcessRunner {
   public:
    Result<Measurement> measure(const Module&, const MeasureInputs&) override {
      if (++runs <= 2) return failed_measurement(ErrorKind::timeout, "it did not end");
      return failed_measurement(ErrorKind::wrong_result, "wrong in run " + std::to_string(runs));
    }
  };
  Failing runner;
  LocalEvaluator evaluator(runner);
  Result<RecordStore> store = RecordStore::open(folder_ / "failing.db");
  ASSERT_TRUE(store) << store.error().to_string();
  const auto results = tune_cases({small_matmul()}, {}, {.trials = 5}, evaluator, *store, {});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ(results->front().progress.failed, 5);
  ASSERT_FALSE(results->front().failures.empty());
  EXPECT_EQ(results->front().failures.front().first,
            (MeasureFailure{ErrorKind::wrong_result, "wrong in run 3"}));
}

}  // namespace
}  // namespace lathe::testing
