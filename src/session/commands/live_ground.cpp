#include "session/commands/live_ground.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/compiler_version.h"
#include "base/scratch_folder.h"
#include "evaluate/local_evaluator.h"
#include "experiment/curve.h"
#include "measure/timing.h"
#include "records/within.h"
#include "session/load_source.h"
#include "session/open_records.h"
#include "session/start_measurer.h"
#include "target/detect.h"
#include "tune/recorded_evaluator.h"
#include "tune/task_records.h"
#include "tune/task_tuner.h"

namespace lathe {
namespace {

Result<Workload> operator_of(const ExperimentCase& one, const std::string& folder) {
  ProgramSource source;
  source.workload = (std::filesystem::path(folder) / one.workload).string();
  LATHE_TRY(const std::vector<Workload> all, load_workloads(source));
  const auto found = std::ranges::find(all, one.op, &Workload::name);
  if (found == all.end())
    return fail(ErrorKind::not_found, fmt::format("there is no operator '{}'", one.op), source.workload);
  return *found;
}

}  // namespace

struct LiveGround::State {
  std::string name;
  std::string key;
  std::string space;
  Task task;
  RecordStore records;
  Measurer measurer;
  std::unique_ptr<LocalEvaluator> measuring = {};
  std::optional<RecordedEvaluator> evaluator = {};
};

LiveGround::LiveGround(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiveGround::LiveGround(LiveGround&&) noexcept = default;
LiveGround::~LiveGround() = default;

const std::string& LiveGround::name() const { return state_->name; }
const std::string& LiveGround::key() const { return state_->key; }

Result<LiveGround> LiveGround::create(const ExperimentCase& one, const std::string& folder,
                                      const std::string& records, const std::string& worker,
                                      const Teller& note) {
  LATHE_TRY(const Workload workload, operator_of(one, folder));
  ProgramSource source;
  source.cores = one.cores;
  LATHE_TRY(const Target target, target_here(source));
  LATHE_TRY(RecordStore store, open_records(records, note));
  LATHE_TRY(Measurer measurer, start_measurer(worker, one.cores));
  LATHE_TRY(const Task asked, task_of(workload, target, one.layouts_are_free, false));
  LATHE_TRY(Task task, make_known(asked, store));
  const std::string name = fmt::format("{} {}", one.op, one.space);
  auto state = std::make_unique<State>(
      State{.name = name,
            .key = fmt::format("{} {} on {}, {} cores, by {}", name, one.layouts_are_free ? "free" : "fixed",
                               target.machine, one.cores, compiler_version()),
            .space = one.space,
            .task = std::move(task),
            .records = std::move(store),
            .measurer = std::move(measurer)});
  const bool has_spare = static_cast<int>(allowed_cpus().size()) > one.cores;
  state->measuring = std::make_unique<LocalEvaluator>(state->measurer, LocalOptions{.overlap = has_spare});
  LATHE_TRY(state->evaluator, RecordedEvaluator::create(state->task, *state->measuring, state->records));
  return LiveGround(std::move(state));
}

Result<std::optional<KeptSearch>> LiveGround::search(const LiveSearchOptions& options,
                                                     const std::function<bool()>& stop) {
  // The tuner takes over what its records hold: each search has records of its own.
  LATHE_TRY(const ScratchFolder scratch,
            ScratchFolder::create(std::filesystem::temp_directory_path().string()));
  LATHE_TRY(RecordStore records, RecordStore::open(scratch.at("search.db")));
  TuneOptions tuning;
  tuning.space = state_->space;
  tuning.strategy = options.strategy;
  tuning.strategy_factory = options.make_strategy;
  tuning.cost_model_factory = options.make_model;
  tuning.seed = options.seed;
  tuning.corrects_pace = false;
  const Watch watch{{}, stop, {}};
  Result<TaskTuner> made = TaskTuner::create(state_->task, tuning, *state_->evaluator, records, watch);
  if (watch.is_over()) return std::nullopt;
  LATHE_TRY(TaskTuner tuner, std::move(made));
  const int per_trial = tuner.measured_per_trial();
  const int64_t points = options.trials * per_trial;
  KeptSearch kept;
  std::vector<double> seconds;
  double charged = 0;
  int64_t last = 0;  // the record that came before
  while (std::ssize(seconds) < points && !tuner.progress().used_up) {
    const double begin = monotonic_seconds();
    const double spent = state_->evaluator->spent_seconds();
    const int64_t left = points - std::ssize(seconds);
    const int64_t batch = tuner.fixed_batch().value_or(options.batch);
    LATHE_TRY_STATUS(tuner.step(static_cast<int>(std::min(batch, left)), watch));
    if (watch.is_over()) return std::nullopt;
    charged += monotonic_seconds() - begin - (state_->evaluator->spent_seconds() - spent);
    LATHE_TRY(const std::vector<Record> all, records.find({}));
    for (const Record& record : all) {
      if (record.id <= last) continue;
      last = record.id;
      charged += record.wall_seconds;
      seconds.push_back(record.measurement.ok() ? record.measurement.seconds
                                                : std::numeric_limits<double>::infinity());
      if (std::ssize(seconds) % per_trial == 0 || std::ssize(seconds) == points)
        kept.charged.push_back(charged);
    }
  }
  kept.seconds = best_of_trials(seconds, per_trial);
  kept.charged.resize(kept.seconds.size(), charged);
  return kept;
}

}  // namespace lathe
