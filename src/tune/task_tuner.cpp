#include "tune/task_tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/memory.h"
#include "check/tolerance.h"
#include "cost/all.h"
#include "cost/draft.h"
#include "measure/timing.h"
#include "search/all.h"
#include "tune/candidates.h"
#include "tune/choose_trace.h"
#include "tune/pace.h"
#include "tune/related_points.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// As a search hears of it. The spread is a median absolute deviation of the faster half of the samples.
Trial trial_of(const Point& point, const Measurement& measurement) {
  constexpr double kDeviationOfNormal = 1.4826;  // per median absolute deviation
  if (!measurement.ok()) return {point, kInfinity};
  const auto half = static_cast<int>((measurement.samples.size() + 1) / 2);
  return {point, measurement.seconds, kDeviationOfNormal * measurement.spread * measurement.seconds,
          std::max(1, half)};
}

std::vector<Domain> domains_of(const Space& space) {
  std::vector<Domain> domains;
  for (const Sketch& sketch : space.sketches()) domains.push_back(sketch.domain);
  return domains;
}

// The space's own points to begin with, and behind the first of them, the untuned program, those of other
// tasks.
Result<SearchSpace> space_to_search(Candidates& candidates, const Task& task, const TuneOptions& options,
                                    const RecordStore& records) {
  SearchSpace space = candidates.search_space();
  // The published spaces begin with nothing that is known.
  if (options.space != kDefaultSpace || options.related_points == 0) return space;
  // A search that goes on has begun already, and to look at all other tasks takes its time.
  LATHE_TRY(const int64_t tried, records.count(records_of(task)));
  if (tried > 0) return space;
  LATHE_TRY(const std::vector<Point> related, related_points(task, candidates.space(), options.space, records,
                                                             static_cast<size_t>(options.related_points)));
  space.initial.insert(space.initial.begin() + std::min<ptrdiff_t>(1, std::ssize(space.initial)),
                       related.begin(), related.end());
  return space;
}

}  // namespace

struct TaskTuner::State {
  CheckedTask checked;
  TuneOptions options;
  Evaluator* evaluator = nullptr;
  Candidates candidates;
  Recorder recorder;
  Record blank;
  DraftModel draft;
  std::unique_ptr<Strategy> strategy = {};
  std::unique_ptr<CostModel> model = {};
  TuneProgress progress = {};
  std::vector<Trial> trials = {};
  size_t fitted = 0;  // how many of them the model has seen
  Pace pace = {};

  const Task& task() const { return *checked.task; }
  void count(const Measurement& measurement);
  void fit();
  Status keep(const Point& point, const std::string& trace, const Evaluated& outcome,
              std::optional<double> tolerance, std::vector<Trial>& batch);
  Status keep_unwritten(const Point& point, const Error& error, std::vector<Trial>& batch);
  Status evaluate(std::span<const Point> points, const Watch& watch, std::vector<Trial>& batch);
  Status correct(std::vector<Trial>& batch, size_t first_ranked, const Watch& watch);
  Status take_over_records(const RecordStore& records);
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
  CostSamples samples;
  std::vector<Point> points;
  std::vector<double> seconds;
  for (const Trial& trial : trials) {
    points.push_back(trial.point);
    seconds.push_back(trial.seconds);
    const auto& row = candidates.features(trial.point);
    if (!row) continue;
    samples.features.add(*row);
    samples.seconds.push_back(trial.seconds);
    samples.tasks.push_back(0);
  }
  // A model that cannot learn leaves the search without one; the search goes on.
  if (samples.size() > 0) static_cast<void>(model->fit(samples));
  if (model->fitted()) draft.fit(points, seconds);
}

// Times of a batch at pace 1. Where it began slow and ended quiet it counts as quiet: what looks better than
// it is would be kept.
Status TaskTuner::State::correct(std::vector<Trial>& batch, size_t first_ranked, const Watch& watch) {
  const double first = pace.now();
  if (first == 1) return {};
  LATHE_TRY_STATUS(pace.take(*evaluator, watch));
  const double slower = std::min(first, pace.now());
  for (Trial& trial : batch) {
    trial.seconds /= slower;
    trial.deviation /= slower;
  }
  recorder.correct_since(first_ranked, slower);
  return {};
}

Status TaskTuner::State::keep(const Point& point, const std::string& trace, const Evaluated& outcome,
                              std::optional<double> tolerance, std::vector<Trial>& batch) {
  count(outcome.measurement);
  Record record = blank;
  record.tolerance = tolerance;
  record.trace = trace;
  const Sketch& sketch = candidates.space().sketch_of(point);
  record.point = {options.space, sketch.name, choices_of(sketch.domain, point.integers)};
  record.measurement = outcome.measurement;
  record.created_at = unix_milliseconds();
  record.wall_seconds = outcome.wall_seconds;
  recorder.add(std::move(record));
  batch.push_back(trial_of(point, outcome.measurement));
  return recorder.flush_if_due();
}

// A point that has no program, which is its failure.
Status TaskTuner::State::keep_unwritten(const Point& point, const Error& error, std::vector<Trial>& batch) {
  const Result<Trace> trace = candidates.trace(point);
  return keep(point, trace ? to_string(*trace) : "", {failed_measurement(error.kind, error.message), 0}, {},
              batch);
}

Status TaskTuner::State::evaluate(std::span<const Point> points, const Watch& watch,
                                  std::vector<Trial>& batch) {
  std::vector<MeasureJob> jobs;
  std::vector<const Point*> of_job;
  const double start = monotonic_seconds();
  for (const Point& point : points) {
    const Result<std::shared_ptr<const Written>> program = candidates.written(point);
    if (!program) LATHE_TRY_STATUS(keep_unwritten(point, program.error(), batch));
    if (!program) continue;
    jobs.push_back({checked, *program, progress.best_seconds * pace.now()});
    of_job.push_back(&point);
  }
  const double write_seconds =
      (monotonic_seconds() - start) / static_cast<double>(std::max<size_t>(1, points.size()));
  EvaluationListener listener;
  listener.while_waiting = [this] { static_cast<void>(recorder.flush()); };
  listener.done = [&](size_t i, const Evaluated& outcome) {
    const Trace& trace = jobs[i].program->trace;
    const bool was_built = outcome.measurement.ok() || outcome.measurement.failure->kind != ErrorKind::build;
    const double own = checked.tolerance ? *checked.tolerance : relative_tolerance(task().dag, trace);
    if (outcome.measurement.ok() && options.corrects_pace) pace.offer(jobs[i], outcome.measurement.seconds);
    progress.build_seconds = std::max(progress.build_seconds, write_seconds + outcome.build_seconds);
    return keep(*of_job[i], to_string(trace), outcome, was_built ? std::optional(own) : std::nullopt, batch);
  };
  LATHE_TRY_STATUS(evaluator->evaluate(jobs, watch, listener));
  return {};
}

Status TaskTuner::State::take_over_records(const RecordStore& records) {
  LATHE_TRY(const std::vector<Record> known, settled_records(task(), records, options.tolerance));
  const std::vector<Sketch>& sketches = candidates.space().sketches();
  for (const Record& record : known) {
    if (record.measurement.source != evaluator->source()) continue;
    count(record.measurement);
    if (record.measurement.ok()) recorder.take_over(record);
    const auto sketch = std::ranges::find(sketches, record.point.sketch, &Sketch::name);
    if (record.point.space != options.space || sketch == sketches.end()) continue;
    auto integers = integers_in(sketch->domain, record.point, sketch->preferred);
    if (!integers) continue;
    const Point point{static_cast<int>(sketch - sketches.begin()), std::move(*integers)};
    trials.push_back(trial_of(point, record.measurement));
  }
  strategy->observe(trials);
  return {};
}

TaskTuner::TaskTuner(std::unique_ptr<State> state) : state_(std::move(state)) {}
TaskTuner::TaskTuner(TaskTuner&&) noexcept = default;
TaskTuner& TaskTuner::operator=(TaskTuner&&) noexcept = default;
TaskTuner::~TaskTuner() = default;

Result<TaskTuner> TaskTuner::create(const Task& asked_for, const TuneOptions& options, Evaluator& evaluator,
                                    RecordStore& records, const Watch& watch) {
  LATHE_TRY(Task known, make_known(asked_for, records));
  CheckedTask checked{std::make_shared<const Task>(std::move(known))};
  checked.tolerance = options.tolerance;
  LATHE_TRY(std::unique_ptr<CostModel> model,
            options.cost_model_factory ? options.cost_model_factory() : make_cost_model(options.cost_model));
  LATHE_TRY(Candidates candidates, Candidates::create(checked.task, options.space, model->wants()));
  LATHE_TRY_STATUS(evaluator.prepare(checked, watch));
  Recorder recorder(records, untuned_trace(candidates.space()));
  DraftModel draft(domains_of(candidates.space()));
  auto state =
      std::make_unique<State>(State{.checked = checked,
                                    .options = options,
                                    .evaluator = &evaluator,
                                    .candidates = std::move(candidates),
                                    .recorder = std::move(recorder),
                                    .blank = blank_record(*checked.task, options.strategy, options.seed),
                                    .draft = std::move(draft)});
  LATHE_TRY(SearchSpace space, space_to_search(state->candidates, *checked.task, options, records));
  LATHE_TRY(state->strategy, options.strategy_factory
                                 ? options.strategy_factory(std::move(space), options.seed)
                                 : make_strategy(options.strategy, std::move(space), options.seed));
  state->model = std::move(model);
  LATHE_TRY_STATUS(state->take_over_records(records));
  return TaskTuner(std::move(state));
}

Status TaskTuner::step(int count, const Watch& watch) {
  State& s = *state_;
  s.fit();
  Predictor predictor;
  if (s.model->fitted()) {
    predictor.full = [&s](std::span<const Point> points) { return s.candidates.predict(points, *s.model); };
  }
  if (s.draft.fitted())
    predictor.draft = [&s](std::span<const Point> points) { return s.draft.predict(points); };
  const Proposal proposal = s.strategy->propose(count, predictor);
  const std::vector<Point>& points = proposal.points;
  s.progress.used_up = proposal.exhausted || points.empty();
  if (s.options.corrects_pace) LATHE_TRY_STATUS(s.pace.take(*s.evaluator, watch));
  const size_t first_ranked = s.recorder.ranked().size();
  std::vector<Trial> batch;
  const Status status = within_memory([&] { return s.evaluate(points, watch, batch); });
  s.candidates.end_round();
  LATHE_TRY_STATUS(s.recorder.flush_or_keep_aside());
  LATHE_TRY_STATUS(status);
  if (s.options.corrects_pace) LATHE_TRY_STATUS(s.correct(batch, first_ranked, watch));
  s.progress.slowest_pace = s.pace.slowest();
  s.strategy->observe(batch);
  s.trials.insert(s.trials.end(), batch.begin(), batch.end());
  return {};
}

std::vector<RankedRecord> TaskTuner::finalists(size_t count) const {
  return best_of(state_->recorder.ranked(), count);
}

double TaskTuner::least_seconds(const Peaks& peaks) const {
  return lathe::least_seconds(state_->task(), state_->candidates.space(), state_->trials, peaks);
}

std::optional<int> TaskTuner::fixed_batch() const {
  const int batch = state_->strategy->batch();
  return batch > 0 ? std::optional(batch) : std::nullopt;
}

int TaskTuner::measured_per_trial() const { return state_->strategy->measured_per_trial(); }

const TuneProgress& TaskTuner::progress() const { return state_->progress; }
const CheckedTask& TaskTuner::checked() const { return state_->checked; }

}  // namespace lathe
