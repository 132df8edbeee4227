#include "tune/task_tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <ranges>
#include <set>
#include <utility>

#include "base/compiler_version.h"
#include "compile/compile.h"
#include "cost/all.h"
#include "measure/timing.h"
#include "records/task_text.h"
#include "schedule/apply.h"
#include "search/all.h"
#include "tune/problem.h"
#include "tune/scored_space.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Records are written together, but none waits for as long as a second (design 5): longer than this for the
// next one, or than kLongWaitSeconds more where the next takes its time.
constexpr double kFlushSeconds = 0.5;

// A candidate on its way from point to machine code.
struct Built {
  Trace trace;
  Program program;
  Result<Module> module = fail(ErrorKind::build, "not built");
  double seconds = 0;
};

Built build(const Task& task, Result<Trace> trace) {
  const double start = monotonic_seconds();
  Built built;
  const auto finish = [&] {
    built.seconds = monotonic_seconds() - start;
    return std::move(built);
  };
  if (!trace) {
    built.module = std::unexpected(trace.error());
    return finish();
  }
  built.trace = std::move(*trace);
  Result<Program> program = apply_trace(task, built.trace);
  if (!program) {
    built.module = std::unexpected(program.error());
    return finish();
  }
  built.program = std::move(*program);
  built.module = compile_program(built.program, task.target);
  return finish();
}

int64_t unix_milliseconds() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// Whether somebody else, who prunes the file, took the record out of it.
template <class T>
bool is_gone(const Result<T>& result) {
  return !result && result.error().kind == ErrorKind::not_found;
}

// The program of the shortest measurement so far, measured again around the batches: how many times as long
// as that it takes tells the machine's pace. Only what was measured is compared with: a time divided by a
// pace would, where that is wrong, make every later pace wrong by as much.
struct PaceMaker {
  Built built;
  double seconds = 0;
};
// Paces within this of 1 are the noise of one measurement.
constexpr double kPaceNoise = 0.05;

// Two measurements of one program some seconds apart differ by as much where clocks move.
constexpr double kFinalistRatio = 1.08;
constexpr int kRaceTurns = 5;
// Of a candidate: one that takes so many times as long as the best is not waited for.
constexpr double kLeastLimitSeconds = 10;
constexpr double kHopeless = 5;

// A program in a race, and what its runs took in all of its turns.
struct Racer {
  int64_t id = 0;
  Built built;
  std::vector<double> samples = {};
};

}  // namespace

std::vector<RankedRecord> best_of(std::vector<RankedRecord> ranked, size_t count) {
  std::ranges::stable_sort(ranked, {}, &RankedRecord::seconds);
  std::set<int64_t> seen;
  std::erase_if(ranked, [&](const RankedRecord& record) { return !seen.insert(record.id).second; });
  std::erase_if(ranked, [best = ranked.empty() ? 0 : ranked.front().seconds](const RankedRecord& record) {
    return record.seconds > best * kFinalistRatio;
  });
  ranked.resize(std::min(ranked.size(), count));
  return ranked;
}

struct TaskTuner::State {
  Task task;
  TuneOptions options;
  CandidateRunner* runner = nullptr;
  RecordStore* records = nullptr;
  ScoredSpace scored;
  Problem problem;
  std::unique_ptr<Strategy> strategy = {};
  std::unique_ptr<CostModel> model = {};
  TuneProgress progress = {};
  std::vector<Trial> trials = {};
  size_t fitted = 0;  // how many of them the model has seen
  std::vector<Record> unwritten = {};
  std::vector<RankedRecord> ranked = {};  // as they came, at pace 1 once their batch is over
  std::optional<PaceMaker> pace_maker = {};
  double pace = 1;  // how many times as long as at its quietest the machine takes for a program now
  double last_flush = 0;

  void count(const Measurement& measurement);
  void fit();
  Status flush();
  Status flush_or_keep_aside();
  Built wait_for(std::future<Built> built);
  // What it is measured with, as long as the watch lets it.
  MeasureInputs inputs_of(const Built& built, const Watch& watch);
  Status take_pace(const Watch& watch);
  Status correct(std::vector<Trial>& batch, size_t first_ranked, const Watch& watch);
  Status measure(const Point& point, Built built, const Watch& watch, std::vector<Trial>& batch);
  void keep(const Point& point, const Built& built, const Measurement& measurement, double wall_seconds);
  Status take_over_records();
  Result<std::vector<Racer>> build_racers(std::span<const RankedRecord> finalists, const Watch& watch);
  Status run_race(std::vector<Racer>& racers, const Watch& watch);
  Result<FullCheck> check_in_full(const Record& record, const Watch& watch);
};

void TaskTuner::State::count(const Measurement& measurement) {
  ++progress.trials;
  if (!measurement.ok()) {
    ++progress.failed;
    return;
  }
  if (progress.best_seconds == 0 || measurement.seconds < progress.best_seconds) {
    progress.best_seconds = measurement.seconds;
    progress.best_spread = measurement.spread;
  }
}

void TaskTuner::State::fit() {
  if (fitted == trials.size()) return;
  fitted = trials.size();
  FeatureMatrix rows;
  std::vector<double> seconds;
  for (const Trial& trial : trials) {
    const auto& row = scored.features(trial.point);
    if (!row) continue;
    rows.columns = static_cast<int64_t>(row->size());
    rows.values.insert(rows.values.end(), row->begin(), row->end());
    seconds.push_back(trial.seconds);
  }
  rows.rows = static_cast<int64_t>(seconds.size());
  const std::vector<int> groups(seconds.size(), 0);
  // A model that cannot learn leaves the search without one; the search goes on.
  if (rows.rows > 0) static_cast<void>(model->fit(rows, seconds, groups));
}

Status TaskTuner::State::flush() {
  last_flush = monotonic_seconds();
  if (unwritten.empty()) return {};
  const auto ids = records->append_all(unwritten);
  if (!ids) return std::unexpected(ids.error());
  for (size_t i = 0; i < ids->size(); ++i) {
    const Measurement& measurement = unwritten[i].measurement;
    if (measurement.ok()) ranked.push_back({measurement.seconds, (*ids)[i]});
  }
  unwritten.clear();
  return {};
}

// A full disk may take some of them still.
Status TaskTuner::State::flush_or_keep_aside() {
  const Status flushed = flush();
  if (flushed) return {};
  size_t stored = 0;
  while (stored < unwritten.size() && records->append(unwritten[stored])) ++stored;
  return std::unexpected(records->keep_aside(std::span(unwritten).subspan(stored), flushed.error()));
}

// What is measured meanwhile would wait as long to be written as the candidate to be built.
Built TaskTuner::State::wait_for(std::future<Built> built) {
  const auto patience = std::chrono::duration<double>(kLongWaitSeconds);
  // What could not be written is kept, and its error comes with the next flush.
  if (built.wait_for(patience) == std::future_status::timeout) static_cast<void>(flush());
  return built.get();
}

MeasureInputs TaskTuner::State::inputs_of(const Built& built, const Watch& watch) {
  MeasureInputs inputs = problem.inputs_for(built.program, built.trace);
  inputs.stop = [&watch] { return watch.is_over(); };
  inputs.seconds_left = watch.deadline.seconds_left();
  return inputs;
}

// A shared machine is slow for seconds at a time. What was measured then must not look worse to the search
// than what was measured before and after.
Status TaskTuner::State::take_pace(const Watch& watch) {
  if (!pace_maker || watch.is_over()) return {};
  const Built& built = pace_maker->built;
  LATHE_TRY(const Measurement now, runner->measure(*built.module, inputs_of(built, watch)));
  if (!now.ok()) return {};
  pace_maker->seconds = std::min(pace_maker->seconds, now.seconds);
  pace = now.seconds / pace_maker->seconds;
  if (pace < 1 + kPaceNoise) pace = 1;
  progress.slowest_pace = std::max(progress.slowest_pace, pace);
  return {};
}

// Times of a batch at pace 1. Where it began slow and ended quiet it counts as quiet: what looks better than
// it is would be kept.
Status TaskTuner::State::correct(std::vector<Trial>& batch, size_t first_ranked, const Watch& watch) {
  if (pace == 1) return {};
  const double first = pace;
  LATHE_TRY_STATUS(take_pace(watch));
  pace = std::min(first, pace);
  for (Trial& trial : batch) trial.seconds /= pace;
  for (size_t i = first_ranked; i < ranked.size(); ++i) ranked[i].seconds /= pace;
  return {};
}

Status TaskTuner::State::measure(const Point& point, Built built, const Watch& watch,
                                 std::vector<Trial>& batch) {
  const double start = monotonic_seconds();
  Measurement measurement;
  if (!built.module) {
    measurement = failed_measurement(built.module.error().kind, built.module.error().message);
  } else {
    MeasureInputs inputs = inputs_of(built, watch);
    inputs.best_seconds = progress.best_seconds * pace;
    inputs.on_long_wait = [this] { static_cast<void>(flush()); };
    if (progress.best_seconds > 0)
      inputs.timeout_seconds =
          std::min(inputs.timeout_seconds, kLeastLimitSeconds + kHopeless * progress.best_seconds);
    LATHE_TRY(measurement, runner->measure(*built.module, inputs));
    // It might have passed.
    const bool timed_out = !measurement.ok() && measurement.failure->kind == ErrorKind::timeout;
    if (timed_out && watch.is_over()) return {};
  }
  count(measurement);
  keep(point, built, measurement, built.seconds + monotonic_seconds() - start);
  batch.push_back({point, measurement.ok() ? measurement.seconds : kInfinity});
  if (measurement.ok() && (!pace_maker || measurement.seconds < pace_maker->seconds)) {
    pace_maker = PaceMaker{std::move(built), measurement.seconds};
  }
  return monotonic_seconds() - last_flush > kFlushSeconds ? flush() : Status();
}

void TaskTuner::State::keep(const Point& point, const Built& built, const Measurement& measurement,
                            double wall_seconds) {
  Record record;
  if (built.module) record.tolerance = problem.tolerance_of(built.trace);
  record.task = text_of(task);
  record.target = task.target.name;
  record.machine = task.target.machine;
  record.cores = cores_of(task.target);
  record.compiler_version = compiler_version();
  record.trace = to_string(built.trace);
  record.sketch = scored.space().sketches()[static_cast<size_t>(point.sketch)].name;
  record.integers = point.integers;
  record.measurement = measurement;
  record.strategy = options.strategy;
  record.seed = options.seed;
  record.created_at = unix_milliseconds();
  record.wall_seconds = wall_seconds;
  unwritten.push_back(std::move(record));
}

Status TaskTuner::State::take_over_records() {
  LATHE_TRY(const std::vector<Record> known, settled_records(task, *records, options.tolerance));
  const std::vector<Sketch>& sketches = scored.space().sketches();
  for (const Record& record : known) {
    count(record.measurement);
    if (record.measurement.ok()) ranked.push_back({record.measurement.seconds, record.id});
    const auto sketch = std::ranges::find(sketches, record.sketch, &Sketch::name);
    if (sketch == sketches.end() || !check(sketch->domain, record.integers)) continue;
    trials.push_back({{static_cast<int>(sketch - sketches.begin()), record.integers},
                      record.measurement.ok() ? record.measurement.seconds : kInfinity});
  }
  strategy->observe(trials);
  return {};
}

TaskTuner::TaskTuner(std::unique_ptr<State> state) : state_(std::move(state)) {}
TaskTuner::TaskTuner(TaskTuner&&) noexcept = default;
TaskTuner& TaskTuner::operator=(TaskTuner&&) noexcept = default;
TaskTuner::~TaskTuner() = default;

Result<TaskTuner> TaskTuner::create(const Task& asked_for, const TuneOptions& options,
                                    CandidateRunner& runner, RecordStore& records, const Watch& watch) {
  LATHE_TRY(const Task task, make_known(asked_for, records));
  LATHE_TRY(ScoredSpace scored, ScoredSpace::create(task));
  ProblemOptions checks;
  checks.tolerance = options.tolerance;
  LATHE_TRY(Problem problem, Problem::create(task, checks, watch));
  auto state = std::make_unique<State>(State{.task = task,
                                             .options = options,
                                             .runner = &runner,
                                             .records = &records,
                                             .scored = std::move(scored),
                                             .problem = std::move(problem)});
  StrategyOptions search;
  search.seed = options.seed;
  // A point's features cost 0.2 ms, Winograd's 0.6: some 0.05 to 0.2 s a batch.
  search.population = 96;
  search.generations = 3;
  SearchSpace space = state->scored.search_space();
  LATHE_TRY(state->strategy, options.strategy_factory
                                 ? options.strategy_factory(std::move(space), search)
                                 : make_strategy(options.strategy, std::move(space), search));
  LATHE_TRY(state->model,
            options.cost_model_factory ? options.cost_model_factory() : make_cost_model(options.cost_model));
  LATHE_TRY_STATUS(state->take_over_records());
  state->last_flush = monotonic_seconds();
  return TaskTuner(std::move(state));
}

Status TaskTuner::step(int count, const Watch& watch) {
  State& s = *state_;
  s.fit();
  Scorer scorer;
  if (s.model->fitted()) {
    scorer = [&s](std::span<const Point> points) { return s.scored.score(points, *s.model); };
  }
  const std::vector<Point> points = s.strategy->propose(count, scorer);
  s.progress.used_up = points.size() < static_cast<size_t>(count);
  std::vector<Trial> batch;
  const auto policy = s.options.overlap ? std::launch::async : std::launch::deferred;
  const auto start_build = [&](size_t i) {
    return std::async(policy,
                      [&s, point = points[i]] { return build(s.task, s.scored.space().trace(point)); });
  };
  LATHE_TRY_STATUS(s.take_pace(watch));
  const size_t first_ranked = s.ranked.size();
  std::future<Built> next;
  Status status;
  for (size_t i = 0; i < points.size() && status && !watch.is_over(); ++i) {
    Built built = s.wait_for(next.valid() ? std::exchange(next, {}) : start_build(i));
    if (i + 1 < points.size()) next = start_build(i + 1);
    status = s.measure(points[i], std::move(built), watch, batch);
  }
  LATHE_TRY_STATUS(s.flush_or_keep_aside());
  LATHE_TRY_STATUS(status);
  LATHE_TRY_STATUS(s.correct(batch, first_ranked, watch));
  s.strategy->observe(batch);
  s.trials.insert(s.trials.end(), batch.begin(), batch.end());
  return {};
}

Result<FullCheck> TaskTuner::State::check_in_full(const Record& record, const Watch& watch) {
  if (watch.is_over()) {
    FullCheck check;
    check.unfinished = kNoTimeLeft;
    return check;
  }
  const Built built = build(task, parse_trace(record.trace));
  if (!built.module) {
    FullCheck check;
    check.failure = MeasureFailure{built.module.error().kind, built.module.error().to_string()};
    return check;
  }
  return problem.check_in_full(built.program, built.trace, *built.module, *runner, watch);
}

// Those that are still there and still compile: confirm_best tells of others, should it come to them.
Result<std::vector<Racer>> TaskTuner::State::build_racers(std::span<const RankedRecord> finalists,
                                                          const Watch& watch) {
  std::vector<Racer> racers;
  for (const RankedRecord& finalist : finalists) {
    if (watch.is_over()) break;
    Result<Record> record = records->by_id(finalist.id);
    if (is_gone(record)) continue;
    if (!record) return std::unexpected(record.error());
    Built built = build(task, parse_trace(record->trace));
    if (built.module) racers.push_back({record->id, std::move(built)});
  }
  return racers;
}

// Once the time is up those that had no turn yet, the slowest of them, get none.
Status TaskTuner::State::run_race(std::vector<Racer>& racers, const Watch& watch) {
  const double start = monotonic_seconds();
  const int turns = racers.size() > 1 ? kRaceTurns : 1;
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < racers.size(); ++i) {
      if (watch.is_over()) return {};
      const bool must = turn == 0 && i < 2;
      if (!must && monotonic_seconds() - start > kRaceSeconds && (turn == 0 || i == 0)) return {};
      const Built& built = racers[i].built;
      LATHE_TRY(const Measurement now, runner->measure(*built.module, inputs_of(built, watch)));
      if (now.ok()) racers[i].samples.insert(racers[i].samples.end(), now.samples.begin(), now.samples.end());
    }
  }
  return {};
}

std::vector<RankedRecord> TaskTuner::finalists(size_t count) const { return best_of(state_->ranked, count); }

Status TaskTuner::race(std::span<const RankedRecord> finalists, const Watch& watch) {
  State& s = *state_;
  LATHE_TRY(std::vector<Racer> racers, s.build_racers(finalists, watch));
  const Status run = s.run_race(racers, watch);
  for (const Racer& racer : racers) {
    const Status kept = s.records->add_samples(racer.id, racer.samples);
    if (!is_gone(kept)) LATHE_TRY_STATUS(kept);
  }
  return run;
}

Result<std::optional<Winner>> TaskTuner::confirm_best(const Watch& watch) {
  State& s = *state_;
  for (;;) {
    LATHE_TRY(const std::optional<Record> best, best_settled_record(s.task, *s.records, s.options.tolerance));
    s.progress.best_seconds = best ? best->measurement.seconds : 0;
    s.progress.best_spread = best ? best->measurement.spread : 0;
    if (!best) return std::nullopt;
    LATHE_TRY(const FullCheck check, s.check_in_full(*best, watch));
    if (check.unfinished) return Winner{best->id, 0, 0, check.unfinished};
    if (!check.failure) return Winner{best->id, check.largest_difference, check.tolerance};
    const bool is_compared = check.failure->kind == ErrorKind::wrong_result;
    const Status marked = s.records->mark_failed(best->id, *check.failure,
                                                 is_compared ? std::optional(check.tolerance) : std::nullopt);
    if (is_gone(marked)) continue;
    LATHE_TRY_STATUS(marked);
    ++s.progress.failed;
  }
}

double TaskTuner::least_seconds(const Peaks& peaks) const {
  return lathe::least_seconds(state_->task, state_->scored.space(), state_->trials, peaks);
}

const TuneProgress& TaskTuner::progress() const { return state_->progress; }
const Task& TaskTuner::task() const { return state_->task; }

}  // namespace lathe
