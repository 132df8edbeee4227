// Tuning as a whole: a list of operator cases one after another, or the tasks of a network between which a
// scheduler shares out the trials.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "network/network_tasks.h"
#include "search/task_scheduler.h"
#include "tune/finals.h"
#include "tune/stop_rule.h"
#include "tune/task_records.h"
#include "tune/task_tuner.h"

namespace lathe {

struct TuneBudget {
  int64_t trials = 64;  // per task, those in the records included
  std::vector<int64_t> case_trials =
      {};  // of each case in the place of `trials`, unless empty; not for networks
  // When all must be done: the search, the races, the comparison of the winners, and what the caller does
  // afterwards. What there is no time for is left out: races, then comparisons (Winner::only_sampled).
  Deadline deadline = {};
  double closing_seconds = 0;  // what the caller needs afterwards, as to write artifacts
  double case_seconds = std::numeric_limits<double>::infinity();  // of each case's trials; not for networks
  // Asked between candidates, and while one takes long; true once and for all. Then the run ends with what it
  // has measured: no more is tried, and what is left of measuring and comparing the winners anew is left out.
  std::function<bool()> stop = {};
  StopRule stop_rule = {};
};

// Where a running command stands; for a progress line.
struct TuneState {
  std::string name;  // of the case or task
  size_t index = 0;  // its place, 0 ..
  size_t count = 0;  // how many there are
  TuneProgress progress;
  // All trials are done: its best programs are measured again now, and the winner is compared in full.
  bool is_concluding = false;
  double share = 0;                    // of the trials that are to be made
  std::optional<WorkState> work = {};  // where a part of that takes long
};
using TuneObserver = std::function<void(const TuneState&)>;

// What came of one case.
struct CaseResult {
  std::string name;
  TuneProgress progress;
  double wall_seconds = 0;  // spent on it in this run, everything included
  // The program that the best time belongs to, compared in full unless it says why not; none where this run
  // measured nothing.
  std::optional<Winner> winner = {};
  // Why programs of its records failed, those of earlier runs included.
  std::vector<FailureCount> failures = {};
  // Why nothing can be tried, or nothing more.
  std::optional<MeasureFailure> untunable = {};
  // The share of what the machine allows at most at which the budget's rule ended its search.
  std::optional<double> reached = {};
};

// An Error that names the legal names, unless there is a task scheduler of this name.
Status check_task_scheduler(const std::string& name);

// One case after another; the time is shared out evenly among those that are left. Where the budget's `stop`
// ends the run the cases that it had not come to are missing from the results.
Result<std::vector<CaseResult>> tune_cases(const std::vector<Task>& tasks, const TuneOptions& options,
                                           const TuneBudget& budget, Evaluator& evaluator,
                                           RecordStore& records, const TuneObserver& observer);

// All tasks of a network together: `budget.trials` per task on average, shared out by the named scheduler
// (search/all.h). A task that cannot be tuned leaves its trials to the others, and has a
// failure and no trials in the results; an Error only where none can. No results where `stop` ended the run
// before all tasks were prepared.
Result<std::vector<CaseResult>> tune_network_tasks(const std::vector<WeightedTask>& tasks,
                                                   const std::string& scheduler, const TuneOptions& options,
                                                   const TuneBudget& budget, Evaluator& evaluator,
                                                   RecordStore& records, const TuneObserver& observer);

}  // namespace lathe
