// Searches for one task's best program: its space (candidates.h), a strategy, a cost model and the
// measurements between them, one batch at a time, at the machine's pace (pace.h). What is measured is in the
// records (recorder.h) within a second and before a step returns; what comes after the search follows from
// these alone (finals.h). Used by one thread.
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
#include "evaluate/evaluator.h"
#include "records/record_store.h"
#include "search/strategy.h"
#include "space/all.h"
#include "task/task.h"
#include "tune/recorder.h"
#include "tune/stop_rule.h"

namespace lathe {

struct TuneOptions {
  std::string space = std::string(kDefaultSpace);  // a row of the table of spaces (space/all.h)
  std::string strategy = "evolutionary";           // a row of search/all.h, with what it is set to
  std::string cost_model = "gbt";
  uint64_t seed = 0;
  int batch = 16;                        // candidates between two fits, unless the strategy fixes them
  std::optional<double> tolerance = {};  // as in ProblemOptions
  // Whether times are compared at the machine's pace (pace.h). Not where curves are to be what was measured.
  bool corrects_pace = true;

  // How many points of other tasks' records a search of Lathe's own space tries at first (related_points.h).
  int related_points = 3;

  // Where set, called once a tuner in place of looking the name up; what they give is never null. `strategy`
  // is then only what records are marked with.
  std::function<Result<std::unique_ptr<Strategy>>(SearchSpace, uint64_t seed)> strategy_factory = {};
  std::function<Result<std::unique_ptr<CostModel>>()> cost_model_factory = {};
};

struct TuneProgress {
  int64_t trials = 0;  // recorded for this task, earlier runs included
  int64_t failed = 0;
  double best_seconds = 0;  // 0: nothing valid yet
  double best_spread = 0;
  bool used_up = false;      // the space has no point left
  double slowest_pace = 1;   // how many times as long as at its quietest the machine took for one program
  double build_seconds = 0;  // the longest that a program of this run took from its point to machine code
};

class TaskTuner {
 public:
  // Takes over what the records hold of this task, target, cores and compiler version. `evaluator` and
  // `records` must outlive the tuner. An Error of kind timeout where the watch is over before its data are
  // drawn.
  static Result<TaskTuner> create(const Task& task, const TuneOptions& options, Evaluator& evaluator,
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
  // The time that no program of the task stays below, as far as its trials tell (tune/stop_rule.h).
  double least_seconds(const Peaks& peaks) const;
  const TuneProgress& progress() const;
  // How many candidates its strategy wants between two fits of the model, where that is not the options' to
  // say.
  std::optional<int> fixed_batch() const;
  // How many of its candidates count as one trial, where searches are compared by trials.
  int measured_per_trial() const;
  // In the names in which the records speak of it.
  const CheckedTask& checked() const;

 private:
  struct State;
  explicit TaskTuner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
