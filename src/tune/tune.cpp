#include "tune/tune.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "measure/timing.h"
#include "records/within.h"
#include "search/all.h"
#include "tune/kind_of.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

// A task's first batch is small: with little time every task of a network still gets its best guesses
// measured.
constexpr int kFirstBatch = 4;

int batch_of(const TuneOptions& options, const TuneProgress& progress, int64_t left) {
  const int batch = progress.trials == 0 ? std::min(kFirstBatch, options.batch) : options.batch;
  return static_cast<int>(std::clamp<int64_t>(left, 1, batch));
}

// The share of what the machine allows at which the rule ends the task's search, if it does.
std::optional<double> reached(StopRule& rule, const TaskTuner& tuner) {
  return rule.reached(tuner.progress().best_seconds,
                      [&](const Peaks& peaks) { return tuner.least_seconds(peaks); });
}

// How many of a task's programs race at the end.
constexpr size_t kFinalists = 6;

// Says why a case has no valid program, where it has none.
Status explain_failure(const Task& task, const RecordStore& records, std::optional<double> tolerance,
                       CaseResult& result) {
  if (result.progress.best_seconds > 0 || result.usual_failure) return {};
  LATHE_TRY(const std::vector<Record> settled, settled_records(task, records, tolerance));
  result.usual_failure = usual_failure(settled);
  return {};
}

bool is_stopped(const TuneBudget& budget) { return budget.stop && budget.stop(); }

// The end of a task's tuning, once all tasks have had their trials.
Status conclude(TaskTuner& tuner, std::span<const RankedRecord> finalists, const TuneBudget& budget,
                CaseResult& result) {
  const double start = monotonic_seconds();
  LATHE_TRY_STATUS(tuner.race(finalists, [&] { return is_stopped(budget); }));
  if (is_stopped(budget)) return {};
  LATHE_TRY(result.winner, tuner.confirm_best());
  const double slowest_pace = result.progress.slowest_pace;  // of the steps, which another tuner may have run
  result.progress = tuner.progress();
  result.progress.slowest_pace = std::max(slowest_pace, result.progress.slowest_pace);
  result.wall_seconds += monotonic_seconds() - start;
  return {};
}

// Cases of several names that are one task: what one of them measured counts for all.
struct Twins {
  std::vector<size_t> cases;            // in their order
  std::vector<RankedRecord> finalists;  // of those that this run measured
};

// The cases that were come to, each task once. `finalists` has one place per case.
std::vector<Twins> group_twins(std::span<const Task> cases,
                               std::span<const std::vector<RankedRecord>> finalists) {
  std::vector<Twins> groups;
  std::map<uint64_t, size_t> places;  // by the task's hash
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto [place, is_first] = places.try_emplace(hash_of(cases[i]), groups.size());
    if (is_first) groups.emplace_back();
    Twins& twins = groups[place->second];
    twins.cases.push_back(i);
    twins.finalists.insert(twins.finalists.end(), finalists[i].begin(), finalists[i].end());
  }
  // Each tuner's are few, but a later one may have taken over an earlier one's, at the pace they had then.
  for (Twins& twins : groups) twins.finalists = best_of(std::move(twins.finalists), kFinalists);
  return groups;
}

// What the twins' steps came to together, in the first one's name.
CaseResult join(const Twins& twins, std::span<const CaseResult> results) {
  CaseResult joint = results[twins.cases.front()];
  for (const size_t i : twins.cases) {
    TuneProgress progress = results[i].progress;
    progress.slowest_pace = std::max(progress.slowest_pace, joint.progress.slowest_pace);
    progress.used_up = progress.used_up || joint.progress.used_up;
    joint.progress = progress;  // the later one began with the records of those before it
  }
  return joint;
}

// The end of a task's tuning for all of its cases.
Status conclude_twins(const Twins& twins, std::span<const Task> tasks, const TuneOptions& options,
                      const TuneBudget& budget, CandidateRunner& runner, RecordStore& records,
                      const TuneObserver& observer, std::vector<CaseResult>& results) {
  const size_t first = twins.cases.front();
  CaseResult joint = join(twins, results);
  if (!is_stopped(budget)) {
    if (!twins.finalists.empty()) {
      if (observer) observer({joint.name, first, tasks.size(), joint.progress, true});
      // A tuner holds its task's data: each is made anew here rather than kept.
      LATHE_TRY(TaskTuner tuner, TaskTuner::create(tasks[first], options, runner, records));
      LATHE_TRY_STATUS(conclude(tuner, twins.finalists, budget, joint));
    }
    LATHE_TRY_STATUS(explain_failure(tasks[first], records, options.tolerance, joint));
  }
  results[first].wall_seconds = joint.wall_seconds;
  for (const size_t i : twins.cases) {
    results[i].progress = joint.progress;
    results[i].winner = joint.winner;
    results[i].usual_failure = joint.usual_failure;
  }
  return {};
}

// A task of a network while it is tuned.
struct TunedTask {
  std::optional<TaskTuner> tuner;           // none of a task that cannot be tuned
  std::optional<MeasureFailure> untunable;  // why not
  int64_t known = 0;                        // trials before this run
  double wall = 0;                          // seconds
  std::optional<double> reached;            // as in CaseResult
};

TuneProgress progress_of(const TunedTask& task) {
  return task.tuner ? task.tuner->progress() : TuneProgress();
}

// A tuner for each task, or the reason that it has none; an error where none has one. Ends early where the
// run is stopped.
Result<std::vector<TunedTask>> create_tuners(const std::vector<WeightedTask>& tasks,
                                             const TuneOptions& options, const TuneBudget& budget,
                                             CandidateRunner& runner, RecordStore& records) {
  std::vector<TunedTask> created;
  bool some_tunable = false;
  for (const WeightedTask& weighted : tasks) {
    if (is_stopped(budget)) return created;
    Result<TaskTuner> tuner = TaskTuner::create(weighted.task, options, runner, records);
    some_tunable = some_tunable || tuner.has_value();
    const bool is_last = created.size() + 1 == tasks.size();
    if (!tuner && (tuner.error().kind != ErrorKind::unsupported || (is_last && !some_tunable)))
      return within(weighted.task.name, Result<std::vector<TunedTask>>(std::unexpected(tuner.error())));
    TunedTask& task = created.emplace_back();
    if (tuner) {
      task.known = tuner->progress().trials;
      task.tuner = std::move(*tuner);
    } else {
      task.untunable = MeasureFailure{ErrorKind::unsupported, tuner.error().message};
    }
  }
  return created;
}

// The scheduler that shares out the trials among the tasks that can be tuned.
Result<std::unique_ptr<TaskScheduler>> order_tasks(const std::vector<WeightedTask>& tasks,
                                                   const std::vector<TunedTask>& tuned,
                                                   const std::string& scheduler, uint64_t seed) {
  std::vector<ScheduledTask> scheduled;
  for (const WeightedTask& weighted : tasks) {
    const auto flops = static_cast<double>(flops_of(weighted.task.dag));
    scheduled.push_back({static_cast<double>(weighted.weight), flops, kind_of(weighted.task.dag)});
  }
  LATHE_TRY(auto order, make_task_scheduler(scheduler, scheduled, {.seed = seed}));
  for (size_t i = 0; i < tuned.size(); ++i)
    if (!tuned[i].tuner) order->observe(static_cast<int>(i), INFINITY, true);
  return order;
}

}  // namespace

Status check_task_scheduler(const std::string& name) {
  const auto scheduler = make_task_scheduler(name, {}, {});
  if (!scheduler) return std::unexpected(scheduler.error());
  return {};
}

Result<std::vector<CaseResult>> tune_cases(const std::vector<Task>& tasks, const TuneOptions& options,
                                           const TuneBudget& budget, CandidateRunner& runner,
                                           RecordStore& records, const TuneObserver& observer) {
  std::vector<CaseResult> results;
  std::vector<std::vector<RankedRecord>> finalists(tasks.size());  // of tasks that this run measured
  const double deadline = monotonic_seconds() + budget.seconds;
  StopRule rule = budget.stop_rule;
  for (size_t i = 0; i < tasks.size() && !is_stopped(budget); ++i) {
    const double start = monotonic_seconds();
    const double share =
        std::min((deadline - start) / static_cast<double>(tasks.size() - i), budget.case_seconds);
    const auto stop = [&] { return monotonic_seconds() - start > share || is_stopped(budget); };
    Result<TaskTuner> created = TaskTuner::create(tasks[i], options, runner, records);
    // What cannot be tuned is that case's failure; the others go on.
    if (!created && created.error().kind == ErrorKind::unsupported) {
      results.push_back({tasks[i].name, {}, monotonic_seconds() - start});
      results.back().usual_failure = MeasureFailure{ErrorKind::unsupported, created.error().message};
      continue;
    }
    LATHE_TRY(TaskTuner tuner, std::move(created));
    const auto report = [&] {
      if (observer) observer({tasks[i].name, i, tasks.size(), tuner.progress()});
    };
    report();
    const int64_t known = tuner.progress().trials;
    std::optional<double> enough;
    while (!tuner.progress().used_up && tuner.progress().trials < budget.trials && !stop()) {
      enough = reached(rule, tuner);
      if (enough) break;
      LATHE_TRY_STATUS(
          tuner.step(batch_of(options, tuner.progress(), budget.trials - tuner.progress().trials), stop));
      report();
    }
    results.push_back({tasks[i].name, tuner.progress(), monotonic_seconds() - start});
    results.back().reached = enough;
    if (tuner.progress().trials > known) finalists[i] = tuner.finalists(kFinalists);
  }
  const std::span<const Task> reached = std::span(tasks).first(results.size());
  for (const Twins& twins : group_twins(reached, finalists))
    LATHE_TRY_STATUS(conclude_twins(twins, tasks, options, budget, runner, records, observer, results));
  return results;
}

Result<std::vector<CaseResult>> tune_network_tasks(const std::vector<WeightedTask>& tasks,
                                                   const std::string& scheduler, const TuneOptions& options,
                                                   const TuneBudget& budget, CandidateRunner& runner,
                                                   RecordStore& records, const TuneObserver& observer) {
  const double start = monotonic_seconds();
  LATHE_TRY(std::vector<TunedTask> tuned, create_tuners(tasks, options, budget, runner, records));
  if (tuned.size() < tasks.size()) return std::vector<CaseResult>();
  LATHE_TRY(const auto order, order_tasks(tasks, tuned, scheduler, options.seed));
  int64_t trials = 0;
  for (const TunedTask& task : tuned) trials += task.known;
  const int64_t wanted = budget.trials > INT64_MAX / static_cast<int64_t>(tasks.size())
                             ? INT64_MAX
                             : budget.trials * static_cast<int64_t>(tasks.size());
  const auto stop = [&] { return monotonic_seconds() - start > budget.seconds || is_stopped(budget); };
  StopRule rule = budget.stop_rule;
  const auto observe = [&](size_t i) {
    const TuneProgress& progress = tuned[i].tuner->progress();
    if (trials < wanted && !stop()) tuned[i].reached = reached(rule, *tuned[i].tuner);
    order->observe(static_cast<int>(i), progress.best_seconds > 0 ? progress.best_seconds : INFINITY,
                   progress.used_up || tuned[i].reached);
  };
  for (size_t i = 0; i < tuned.size() && trials < wanted; ++i) {
    if (tuned[i].known > 0) tuned[i].reached = reached(rule, *tuned[i].tuner);
    if (tuned[i].reached) order->observe(static_cast<int>(i), tuned[i].tuner->progress().best_seconds, true);
  }
  while (trials < wanted && !stop()) {
    const std::optional<int> chosen = order->next();
    if (!chosen) break;
    const auto i = static_cast<size_t>(*chosen);
    TaskTuner& tuner = *tuned[i].tuner;
    const double begin = monotonic_seconds();
    const int64_t before = tuner.progress().trials;
    LATHE_TRY_STATUS(tuner.step(batch_of(options, tuner.progress(), wanted - trials), stop));
    const TuneProgress& progress = tuner.progress();
    trials += progress.trials - before;
    tuned[i].wall += monotonic_seconds() - begin;
    observe(i);
    if (observer) observer({tasks[i].task.name, i, tasks.size(), progress});
  }
  std::vector<CaseResult> results;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TuneProgress progress = progress_of(tuned[i]);
    results.push_back(
        {tasks[i].task.name, progress, tuned[i].wall, std::nullopt, tuned[i].untunable, tuned[i].reached});
    if (!tuned[i].tuner || is_stopped(budget)) continue;
    // What an earlier run measured it has compared too, unless it was ended; whatever goes into an artifact
    // is compared in any case.
    if (progress.trials > tuned[i].known) {
      if (observer) observer({tasks[i].task.name, i, tasks.size(), progress, true});
      LATHE_TRY_STATUS(
          conclude(*tuned[i].tuner, tuned[i].tuner->finalists(kFinalists), budget, results.back()));
    }
    LATHE_TRY_STATUS(explain_failure(tasks[i].task, records, options.tolerance, results.back()));
  }
  return results;
}

}  // namespace lathe
