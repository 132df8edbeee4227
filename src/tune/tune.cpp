#include "tune/tune.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "base/memory.h"
#include "measure/time_bounds.h"
#include "measure/timing.h"
#include "records/within.h"
#include "search/all.h"
#include "tune/kind_of.h"
#include "tune/task_records.h"
#include "tune/time_plan.h"

namespace lathe {
namespace {

// A task's first batch is small, where no paper fixes it: with little time every task of a network still gets
// its best guesses measured.
constexpr int kFirstBatch = 4;

int batch_of(const TuneOptions& options, const TaskTuner& tuner, int64_t left) {
  const int first = std::min(kFirstBatch, options.batch);
  const int batch = tuner.fixed_batch().value_or(tuner.progress().trials == 0 ? first : options.batch);
  return static_cast<int>(std::clamp<int64_t>(left, 1, batch));
}

// The share of what the machine allows at which the rule ends the task's search, if it does.
std::optional<double> reached(StopRule& rule, const TaskTuner& tuner) {
  return rule.reached(tuner.progress().best_seconds,
                      [&](const Peaks& peaks) { return tuner.least_seconds(peaks); });
}

// How many of a task's programs race at the end.
constexpr size_t kFinalists = 6;

// Says why programs of a case failed, where some did.
Status explain_failures(const Task& task, const RecordStore& records, std::optional<double> tolerance,
                        CaseResult& result) {
  if (result.progress.failed == 0) return {};
  LATHE_TRY(const std::vector<Record> settled, settled_records(task, records, tolerance));
  result.failures = count_failures(settled);
  return {};
}

// Whether a task's data can be drawn before all is over.
bool is_time_to_draw(const Task& task, const Watch& watch) {
  return !watch.is_over() && drawing_seconds(task.dag) < watch.deadline.seconds_left();
}

bool is_stopped(const TuneBudget& budget) { return budget.stop && budget.stop(); }

// Tries more candidates. Where that cannot go on, as for want of memory, `untunable` says why, and others do.
Status step(TaskTuner& tuner, int count, const Watch& watch, std::optional<MeasureFailure>& untunable) {
  const Status status = tuner.step(count, watch);
  if (status || status.error().kind != ErrorKind::unsupported) return status;
  untunable = MeasureFailure{status.error().kind, status.error().message};
  return {};
}

// So many of a race's programs are worth their building, when it must end by then.
size_t finalists_by(const Deadline& deadline, double best_seconds) {
  constexpr double kBuildSeconds = 0.2;
  constexpr double kRunsOfTurn = 5;  // the first, and samples
  const double each = kBuildSeconds + kRunsOfTurn * best_seconds;
  return static_cast<size_t>(
      std::clamp(deadline.seconds_left() / each, 0.0, static_cast<double>(kFinalists)));
}

// Tells the run's observer where the end of a task's tuning stands.
using ConclusionObserver = std::function<void(const std::optional<WorkState>&)>;

ConclusionObserver conclusion_observer(const TuneObserver& observer, TuneState state) {
  state.is_concluding = true;
  state.share = 1;
  return [observer, state](const std::optional<WorkState>& work) mutable {
    state.work = work;
    if (observer) observer(state);
  };
}

// What the programs of a case take to build beyond what any plan allows for: those that the caller builds
// anew are as long at it.
double late_seconds(const TuneProgress& progress) {
  constexpr double kUsualBuildSeconds = 0.2;
  return std::max(0.0, progress.build_seconds - kUsualBuildSeconds);
}

// The end of a task's tuning, once all tasks have had their trials; `later` are still to come.
Status conclude(const CheckedTask& checked, std::span<const RankedRecord> finalists, const TuneBudget& budget,
                const std::vector<const Task*>& later, TimePlan& plan, Evaluator& evaluator,
                RecordStore& records, const ConclusionObserver& tell, CaseResult& result) {
  const double start = monotonic_seconds();
  tell(std::nullopt);
  Watch watch{plan.end_of_race(*checked.task, later), budget.stop, tell};
  const size_t count = std::min(finalists.size(), finalists_by(watch.deadline, result.progress.best_seconds));
  if (count > 1 || (count == 1 && finalists.size() == 1))
    LATHE_TRY_STATUS(race(checked, finalists.first(count), evaluator, records, watch));
  if (is_stopped(budget)) return {};
  watch.deadline = plan.end_of_check(*checked.task);
  const double begin = monotonic_seconds();
  LATHE_TRY(const Confirmation confirmation, confirm_best(checked, evaluator, records, watch));
  result.winner = confirmation.winner;
  if (is_stopped(budget)) result.winner.reset();
  if (result.winner && !result.winner->only_sampled) plan.learn(*checked.task, monotonic_seconds() - begin);
  result.progress.best_seconds = confirmation.seconds;
  result.progress.best_spread = confirmation.spread;
  result.progress.failed += confirmation.failed;
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
Status conclude_twins(const Twins& twins, const std::vector<const Task*>& later, std::span<const Task> tasks,
                      const TuneOptions& options, const TuneBudget& budget, TimePlan& plan,
                      Evaluator& evaluator, RecordStore& records, const TuneObserver& observer,
                      std::vector<CaseResult>& results) {
  const size_t first = twins.cases.front();
  CaseResult joint = join(twins, results);
  if (!is_stopped(budget)) {
    if (!twins.finalists.empty()) {
      const ConclusionObserver tell =
          conclusion_observer(observer, {joint.name, first, tasks.size(), joint.progress});
      LATHE_TRY(Task known, in_recorded_names(tasks[first], records));
      CheckedTask checked{std::make_shared<const Task>(std::move(known))};
      checked.tolerance = options.tolerance;
      LATHE_TRY_STATUS(
          conclude(checked, twins.finalists, budget, later, plan, evaluator, records, tell, joint));
    }
    LATHE_TRY_STATUS(explain_failures(tasks[first], records, options.tolerance, joint));
  }
  results[first].wall_seconds = joint.wall_seconds;
  for (const size_t i : twins.cases) {
    results[i].progress = joint.progress;
    results[i].winner = joint.winner;
    results[i].failures = joint.failures;
  }
  return {};
}

// A task of a network while it is tuned.
struct TunedTask {
  std::optional<TaskTuner> tuner;           // none of a task that cannot be tuned
  std::optional<MeasureFailure> untunable;  // why not, or why no more of it can be tried
  int64_t known = 0;                        // trials before this run
  double wall = 0;                          // seconds
  std::optional<double> reached;            // as in CaseResult
};

TuneProgress progress_of(const TunedTask& task) {
  return task.tuner ? task.tuner->progress() : TuneProgress();
}

// A tuner for each task, or the reason that it has none; an error where none has one. Ends early where the
// run is stopped; tasks that there is no time for have none.
Result<std::vector<TunedTask>> create_tuners(const std::vector<WeightedTask>& tasks,
                                             const TuneOptions& options, const Watch& watch,
                                             Evaluator& evaluator, RecordStore& records) {
  std::vector<TunedTask> created;
  bool some_tunable = false;
  for (const WeightedTask& weighted : tasks) {
    if (watch.stop && watch.stop()) return created;
    if (!is_time_to_draw(weighted.task, watch)) {
      created.emplace_back();
      continue;
    }
    Result<TaskTuner> tuner =
        within_memory([&] { return TaskTuner::create(weighted.task, options, evaluator, records, watch); });
    if (!tuner && tuner.error().kind == ErrorKind::timeout) {
      if (watch.stop && watch.stop()) return created;
      created.emplace_back();
      continue;
    }
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
  LATHE_TRY(auto order, make_task_scheduler(scheduler, scheduled, seed));
  for (size_t i = 0; i < tuned.size(); ++i)
    if (!tuned[i].tuner) order->observe(static_cast<int>(i), INFINITY, true);
  return order;
}

}  // namespace

Status check_task_scheduler(const std::string& name) {
  const auto scheduler = make_task_scheduler(name, {}, 0);
  if (!scheduler) return std::unexpected(scheduler.error());
  return {};
}

namespace {

std::vector<const Task*> pointers_to(std::span<const Task> tasks) {
  std::vector<const Task*> pointers;
  for (const Task& task : tasks) pointers.push_back(&task);
  return pointers;
}

// Until when a case may be searched: its share of the time, and `last`, near the end of all, where nothing is
// known of it yet: one program that was measured is worth more than what comes afterwards.
struct CaseTime {
  Watch watch;
  Watch last;
};

// One case's trials, as far as its time lets it. Gives the finalists where some were made.
Result<std::vector<RankedRecord>> search_case(const Task& task, const TuneOptions& options,
                                              const TuneBudget& budget, const CaseTime& time, StopRule& rule,
                                              Evaluator& evaluator, RecordStore& records,
                                              const std::function<void(const TuneProgress&)>& report,
                                              CaseResult& result) {
  if (!is_time_to_draw(task, time.last)) return std::vector<RankedRecord>();
  Result<TaskTuner> created =
      within_memory([&] { return TaskTuner::create(task, options, evaluator, records, time.last); });
  if (!created && created.error().kind == ErrorKind::timeout) return std::vector<RankedRecord>();
  // What cannot be tuned is that case's failure; the others go on.
  if (!created && created.error().kind == ErrorKind::unsupported) {
    result.untunable = MeasureFailure{ErrorKind::unsupported, created.error().message};
    return std::vector<RankedRecord>();
  }
  LATHE_TRY(TaskTuner tuner, std::move(created));
  report(tuner.progress());
  const int64_t known = tuner.progress().trials;
  const bool is_hurried = std::isfinite(time.watch.deadline.seconds_left());
  if (is_hurried && tuner.progress().trials == 0 && budget.trials > 0) {
    LATHE_TRY_STATUS(step(tuner, 1, time.last, result.untunable));
    report(tuner.progress());
  }
  const auto goes_on = [&] {
    const TuneProgress& progress = tuner.progress();
    if (result.untunable || progress.used_up || progress.trials >= budget.trials) return false;
    const double own = progress.build_seconds + (budget.closing_seconds > 0 ? late_seconds(progress) : 0);
    return !time.watch.is_over() && own < time.watch.deadline.seconds_left();
  };
  while (goes_on()) {
    // Peaks take part of a second to measure.
    constexpr double kWorthAsking = 1;
    if (time.watch.deadline.seconds_left() > kWorthAsking) result.reached = reached(rule, tuner);
    if (result.reached) break;
    const int64_t left = budget.trials - tuner.progress().trials;
    LATHE_TRY_STATUS(step(tuner, batch_of(options, tuner, left), time.watch, result.untunable));
    report(tuner.progress());
  }
  result.progress = tuner.progress();
  if (tuner.progress().trials == known) return std::vector<RankedRecord>();
  return tuner.finalists(kFinalists);
}

}  // namespace

Result<std::vector<CaseResult>> tune_cases(const std::vector<Task>& tasks, const TuneOptions& options,
                                           const TuneBudget& budget, Evaluator& evaluator,
                                           RecordStore& records, const TuneObserver& observer) {
  std::vector<CaseResult> results;
  std::vector<std::vector<RankedRecord>> finalists(tasks.size());  // of tasks that this run measured
  TimePlan plan(budget.deadline, budget.closing_seconds);
  Deadline end = plan.end_of_search(pointers_to(tasks));
  StopRule rule = budget.stop_rule;
  const auto count = static_cast<double>(tasks.size());
  for (size_t i = 0; i < tasks.size() && !is_stopped(budget); ++i) {
    const double start = monotonic_seconds();
    TuneBudget case_budget = budget;
    if (!budget.case_trials.empty()) case_budget.trials = budget.case_trials[i];
    const double share = std::min(end.seconds_left() / (count - static_cast<double>(i)), budget.case_seconds);
    const auto report = [&](const TuneProgress& progress) {
      const double done =
          std::min(1.0, static_cast<double>(progress.trials) / static_cast<double>(case_budget.trials));
      if (observer)
        observer({tasks[i].name, i, tasks.size(), progress, false, (static_cast<double>(i) + done) / count});
    };
    CaseResult& result = results.emplace_back();
    result.name = tasks[i].name;
    const Deadline last = Deadline::in(budget.case_seconds).or_earlier(plan.end_of_first());
    const CaseTime time{{Deadline::in(share), budget.stop, {}}, {last, budget.stop, {}}};
    LATHE_TRY(finalists[i],
              search_case(tasks[i], options, case_budget, time, rule, evaluator, records, report, result));
    result.wall_seconds = monotonic_seconds() - start;
    if (budget.closing_seconds > 0) {
      plan.reserve(late_seconds(result.progress));
      end = end.earlier_by(late_seconds(result.progress));
    }
  }
  const std::span<const Task> reached = std::span(tasks).first(results.size());
  const std::vector<Twins> groups = group_twins(reached, finalists);
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<const Task*> later;
    for (size_t l = g + 1; l < groups.size(); ++l) {
      if (!groups[l].finalists.empty()) later.push_back(&tasks[groups[l].cases.front()]);
    }
    LATHE_TRY_STATUS(conclude_twins(groups[g], later, tasks, options, budget, plan, evaluator, records,
                                    observer, results));
  }
  return results;
}

namespace {

// All trials, in the scheduler's order.
Status search_network(const std::vector<WeightedTask>& tasks, const std::string& scheduler,
                      const TuneOptions& options, const TuneBudget& budget, const Watch& watch,
                      const TuneObserver& observer, std::vector<TunedTask>& tuned) {
  LATHE_TRY(const auto order, order_tasks(tasks, tuned, scheduler, options.seed));
  int64_t trials = 0;
  for (const TunedTask& task : tuned) trials += task.known;
  const int64_t wanted = budget.trials > INT64_MAX / static_cast<int64_t>(tasks.size())
                             ? INT64_MAX
                             : budget.trials * static_cast<int64_t>(tasks.size());
  StopRule rule = budget.stop_rule;
  const auto observe = [&](size_t i) {
    const TuneProgress& progress = tuned[i].tuner->progress();
    if (trials < wanted && !watch.is_over()) tuned[i].reached = reached(rule, *tuned[i].tuner);
    order->observe(static_cast<int>(i), progress.best_seconds > 0 ? progress.best_seconds : INFINITY,
                   progress.used_up || tuned[i].reached || tuned[i].untunable);
  };
  for (size_t i = 0; i < tuned.size() && trials < wanted && !watch.is_over(); ++i) {
    if (tuned[i].known > 0) tuned[i].reached = reached(rule, *tuned[i].tuner);
    if (tuned[i].reached) order->observe(static_cast<int>(i), tuned[i].tuner->progress().best_seconds, true);
  }
  while (trials < wanted && !watch.is_over()) {
    const std::optional<int> chosen = order->next();
    if (!chosen) break;
    const auto i = static_cast<size_t>(*chosen);
    TaskTuner& tuner = *tuned[i].tuner;
    const double begin = monotonic_seconds();
    const int64_t before = tuner.progress().trials;
    // A strategy of a paper has a fixed batch: cut to the task's own budget at first, it leaves the other
    // tasks their trials.
    const int64_t left = before == 0 ? std::min(wanted - trials, budget.trials) : wanted - trials;
    LATHE_TRY_STATUS(step(tuner, batch_of(options, tuner, left), watch, tuned[i].untunable));
    trials += tuner.progress().trials - before;
    tuned[i].wall += monotonic_seconds() - begin;
    observe(i);
    const double share = static_cast<double>(trials) / static_cast<double>(wanted);
    if (observer) observer({tasks[i].task.name, i, tasks.size(), tuner.progress(), false, share});
  }
  return {};
}

// Races and comparisons of what this run measured. What an earlier run measured it has compared too, unless
// it was ended; whatever goes into an artifact is compared in any case.
Result<std::vector<CaseResult>> conclude_network(const std::vector<WeightedTask>& tasks,
                                                 const TuneOptions& options, const TuneBudget& budget,
                                                 TimePlan& plan, Evaluator& evaluator, RecordStore& records,
                                                 const TuneObserver& observer,
                                                 std::vector<TunedTask>& tuned) {
  const auto is_concluded = [&](size_t i) { return progress_of(tuned[i]).trials > tuned[i].known; };
  std::vector<CaseResult> results;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TuneProgress progress = progress_of(tuned[i]);
    results.push_back({tasks[i].task.name, progress, tuned[i].wall});
    results.back().untunable = tuned[i].untunable;
    results.back().reached = tuned[i].reached;
    if (!tuned[i].tuner || is_stopped(budget)) continue;
    if (is_concluded(i)) {
      std::vector<const Task*> later;
      for (size_t l = i + 1; l < tasks.size(); ++l) {
        if (is_concluded(l)) later.push_back(&tasks[l].task);
      }
      const ConclusionObserver tell =
          conclusion_observer(observer, {tasks[i].task.name, i, tasks.size(), progress});
      const TaskTuner& tuner = *tuned[i].tuner;
      LATHE_TRY_STATUS(conclude(tuner.checked(), tuner.finalists(kFinalists), budget, later, plan, evaluator,
                                records, tell, results.back()));
    }
    LATHE_TRY_STATUS(explain_failures(tasks[i].task, records, options.tolerance, results.back()));
  }
  return results;
}

}  // namespace

Result<std::vector<CaseResult>> tune_network_tasks(const std::vector<WeightedTask>& tasks,
                                                   const std::string& scheduler, const TuneOptions& options,
                                                   const TuneBudget& budget, Evaluator& evaluator,
                                                   RecordStore& records, const TuneObserver& observer) {
  TimePlan plan(budget.deadline, budget.closing_seconds);
  std::vector<const Task*> all;
  for (const WeightedTask& weighted : tasks) all.push_back(&weighted.task);
  const Watch watch{plan.end_of_search(all), budget.stop, {}};
  LATHE_TRY(std::vector<TunedTask> tuned, create_tuners(tasks, options, watch, evaluator, records));
  if (tuned.size() < tasks.size()) return std::vector<CaseResult>();
  LATHE_TRY_STATUS(search_network(tasks, scheduler, options, budget, watch, observer, tuned));
  return conclude_network(tasks, options, budget, plan, evaluator, records, observer, tuned);
}

}  // namespace lathe
