// Tunes one task: its space, a strategy, a cost model and the measurements between them, one batch at a time.
// What is measured is in the records within a second and before a step returns. Used by one thread; compiles
// the next candidate on another while one is measured where the machine has a core to spare.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/watch.h"
#include "cost/cost_model.h"
#include "measure/candidate_runner.h"
#include "records/record_store.h"
#include "search/strategy.h"
#include "space/all.h"
#include "task/task.h"
#include "tune/stop_rule.h"

namespace lathe {

struct TuneOptions {
  std::string space = std::string(kDefaultSpace);  // a row of the table of spaces (space/all.h)
  std::string strategy = "evolutionary";
  std::string cost_model = "gbt";
  uint64_t seed = 0;
  int batch = 16;        // candidates between two fits of the model
  bool overlap = false;  // compile beside the measurements: only with a core that no candidate runs on
  std::optional<double> tolerance = {};  // as in ProblemOptions

  // Where set, called once a tuner in place of looking the name up; what they give is never null. `strategy`
  // is then only what records are marked with.
  std::function<Result<std::unique_ptr<Strategy>>(SearchSpace, const StrategyOptions&)> strategy_factory = {};
  std::function<Result<std::unique_ptr<CostModel>>()> cost_model_factory = {};
};

struct TuneProgress {
  int64_t trials = 0;  // recorded for this task, earlier runs included
  int64_t failed = 0;
  double best_seconds = 0;  // 0: nothing valid yet
  double best_spread = 0;
  bool used_up = false;     // the space has no point left
  double slowest_pace = 1;  // how many times as long as at its quietest the machine took for one program
};

// Why a winner was not compared at all, beyond the sample of its measurement (Winner::only_sampled).
constexpr const char* kNoTimeLeft = "there was no time left";

// The best record of a task, all of whose outputs agree with the reference.
struct Winner {
  int64_t record = 0;
  double largest_difference = 0;  // as in FullCheck
  double tolerance = 0;
  // Why no more of them were compared than the sample of each measurement.
  std::optional<std::string> only_sampled = {};
};

// What a race takes where nothing hurries it, but for the building of its programs.
constexpr double kRaceSeconds = 1;

// A record that did not fail, and its time at the machine's quietest pace.
struct RankedRecord {
  double seconds = 0;
  int64_t id = 0;
};
// The best `count` of these, best first; of two of one id the better. What is much slower than the best is
// none of them.
std::vector<RankedRecord> best_of(std::vector<RankedRecord> ranked, size_t count);

class TaskTuner {
 public:
  // Takes over what the records hold of this task, target, cores and compiler version. `runner` and `records`
  // must outlive the tuner. An Error of kind timeout where the watch is over before its data are drawn.
  static Result<TaskTuner> create(const Task& task, const TuneOptions& options, CandidateRunner& runner,
                                  RecordStore& records, const Watch& watch = {});
  TaskTuner(TaskTuner&&) noexcept;
  TaskTuner& operator=(TaskTuner&&) noexcept;
  ~TaskTuner();

  // Tries at most `count` more candidates, fewer when the watch is over or the space is used up. One that is
  // long at it then is given up, and is none. An Error means that nothing can be measured or recorded; what a
  // candidate does wrong is a record.
  Status step(int count, const Watch& watch);
  // The best records, best first. Times are compared at the machine's pace: those measured while it was slow
  // count for less than they took.
  std::vector<RankedRecord> finalists(size_t count) const;
  // Measures these records' programs several times more, in turns, so that they meet the machine at the same
  // paces; for about a second, in which of long ones only the first two may get a turn. Their records take
  // all these samples in: a time that was found in a lucky moment alone would win for good. Call it well
  // after the last step: a machine that is slow is so for seconds. Where the watch ends it the turns so far
  // count.
  Status race(std::span<const RankedRecord> finalists, const Watch& watch);
  // Ends the tuning: compares the best record's program in full, as far as the watch lets it. One that is
  // wrong fails, in its record too, and the next best takes its place; nothing where none is left.
  Result<std::optional<Winner>> confirm_best(const Watch& watch);
  // The time that no program of the task stays below, as far as its trials tell (tune/stop_rule.h).
  double least_seconds(const Peaks& peaks) const;
  const TuneProgress& progress() const;
  const Task& task() const;

 private:
  struct State;
  explicit TaskTuner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
