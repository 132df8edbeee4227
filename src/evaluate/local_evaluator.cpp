#include "evaluate/local_evaluator.h"

#include <algorithm>
#include <future>
#include <list>
#include <utility>

#include "compile/compile.h"
#include "measure/time_bounds.h"
#include "measure/timing.h"

namespace lathe {
namespace {

// A program that takes so many times as long as the task's best is not waited for.
constexpr double kLeastLimitSeconds = 10;
constexpr double kHopeless = 5;
// As many programs keep their machine code: those of a batch, and those that race or tell the pace.
constexpr size_t kKeptModules = 32;

struct Built {
  Result<Module> module = fail(ErrorKind::build, "not built");
  double seconds = 0;
};

Built build(const MeasureJob& job) {
  const double start = monotonic_seconds();
  const Task& task = *job.checked.task;
  Built built{compile_program(job.program->program, task.target)};
  built.seconds = monotonic_seconds() - start;
  return built;
}

// A task with its data.
struct TaskData {
  CheckedTask checked;
  uint64_t hash = 0;  // of the task
  Problem problem;
};

bool is_same(const TaskData& data, const CheckedTask& checked) {
  if (data.checked.seed != checked.seed || data.checked.tolerance != checked.tolerance) return false;
  return data.checked.task == checked.task || data.hash == hash_of(*checked.task);
}

// Machine code of one program of one task.
struct KeptModule {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Written> program;
  std::shared_ptr<const Module> module;
};

}  // namespace

struct LocalEvaluator::State {
  CandidateRunner* runner;
  LocalOptions options;
  std::list<TaskData> data = {};  // the one used last first
  std::list<KeptModule> modules = {};

  Result<Problem*> problem_of(const CheckedTask& checked, const Watch& watch);
  std::shared_ptr<const Module> kept_module(const MeasureJob& job);
  Result<std::shared_ptr<const Module>> module_of(const MeasureJob& job, std::future<Built>& build,
                                                  const EvaluationListener& listener, double& seconds);
  Result<Measurement> run(const MeasureJob& job, const Module& module, double best_seconds,
                          const Watch& watch, const EvaluationListener& listener);
};

Result<Problem*> LocalEvaluator::State::problem_of(const CheckedTask& checked, const Watch& watch) {
  const auto found =
      std::ranges::find_if(data, [&](const TaskData& candidate) { return is_same(candidate, checked); });
  if (found != data.end()) {
    found->checked.task = checked.task;
    data.splice(data.begin(), data, found);
    return &data.front().problem;
  }
  int64_t bytes = 0;
  const int64_t room = options.data_bytes - Problem::bytes_of_data(*checked.task);
  std::erase_if(data, [&](const TaskData& kept) {
    bytes += Problem::bytes_of_data(*kept.checked.task);
    return bytes > room;
  });
  ProblemOptions checks;
  checks.seed = checked.seed;
  checks.tolerance = checked.tolerance;
  LATHE_TRY(Problem problem, Problem::create(*checked.task, checks, watch));
  data.push_front({checked, hash_of(*checked.task), std::move(problem)});
  return &data.front().problem;
}

std::shared_ptr<const Module> LocalEvaluator::State::kept_module(const MeasureJob& job) {
  const auto found = std::ranges::find_if(modules, [&](const KeptModule& kept) {
    return kept.program == job.program && kept.task == job.checked.task;
  });
  if (found == modules.end()) return nullptr;
  modules.splice(modules.begin(), modules, found);
  return modules.front().module;
}

// What is measured meanwhile would wait as long to be written as the program to be built.
Result<std::shared_ptr<const Module>> LocalEvaluator::State::module_of(const MeasureJob& job,
                                                                       std::future<Built>& build,
                                                                       const EvaluationListener& listener,
                                                                       double& seconds) {
  if (std::shared_ptr<const Module> kept = kept_module(job)) return kept;
  const auto patience = std::chrono::duration<double>(kLongWaitSeconds);
  if (build.wait_for(patience) == std::future_status::timeout && listener.while_waiting)
    listener.while_waiting();
  Built built = std::exchange(build, {}).get();
  seconds = built.seconds;
  if (!built.module) return std::unexpected(built.module.error());
  auto module = std::make_shared<const Module>(std::move(*built.module));
  modules.push_front({job.checked.task, job.program, module});
  if (modules.size() > kKeptModules) modules.pop_back();
  return module;
}

Result<Measurement> LocalEvaluator::State::run(const MeasureJob& job, const Module& module,
                                               double best_seconds, const Watch& watch,
                                               const EvaluationListener& listener) {
  LATHE_TRY(Problem* const problem, problem_of(job.checked, watch));
  MeasureInputs inputs = problem->inputs_for(job.program->program, job.program->trace, watch);
  inputs.stop = [&watch] { return watch.is_over(); };
  inputs.seconds_left = watch.deadline.seconds_left();
  inputs.best_seconds = best_seconds;
  inputs.on_long_wait = listener.while_waiting;
  if (best_seconds > 0)
    inputs.timeout_seconds = std::min(inputs.timeout_seconds, kLeastLimitSeconds + kHopeless * best_seconds);
  return runner->measure(module, inputs);
}

LocalEvaluator::LocalEvaluator(CandidateRunner& runner, const LocalOptions& options)
    : state_(std::make_unique<State>(State{&runner, options})) {}
LocalEvaluator::LocalEvaluator(LocalEvaluator&&) noexcept = default;
LocalEvaluator::~LocalEvaluator() = default;

Status LocalEvaluator::prepare(const CheckedTask& task, const Watch& watch) {
  LATHE_TRY_STATUS(state_->problem_of(task, watch));
  return {};
}

Result<std::vector<Evaluated>> LocalEvaluator::evaluate(std::span<const MeasureJob> jobs, const Watch& watch,
                                                        const EvaluationListener& listener) {
  State& s = *state_;
  const auto policy = s.options.overlap ? std::launch::async : std::launch::deferred;
  const auto start_build = [&](size_t i) {
    if (i >= jobs.size() || s.kept_module(jobs[i])) return std::future<Built>();
    return std::async(policy, [&job = jobs[i]] { return build(job); });
  };
  std::vector<Evaluated> outcomes;
  std::future<Built> next = start_build(0);
  double best = 0;  // of the same task's jobs so far
  for (size_t i = 0; i < jobs.size() && !watch.is_over(); ++i) {
    const MeasureJob& job = jobs[i];
    if (i == 0 || jobs[i - 1].checked.task != job.checked.task) best = job.best_seconds;
    std::future<Built> build = std::exchange(next, {});
    double build_seconds = 0;
    const auto module = s.module_of(job, build, listener, build_seconds);
    next = start_build(i + 1);
    const double start = monotonic_seconds();
    Measurement measurement;
    if (module) {
      Result<Measurement> run = s.run(job, **module, best, watch, listener);
      // It might have passed; or its data were not there and could not be drawn.
      const bool timed_out = run ? !run->ok() && run->failure->kind == ErrorKind::timeout
                                 : run.error().kind == ErrorKind::timeout;
      if (timed_out && watch.is_over()) break;
      LATHE_TRY(measurement, std::move(run));
    } else {
      measurement = failed_measurement(module.error().kind, module.error().message);
    }
    if (measurement.ok() && (best == 0 || measurement.seconds < best)) best = measurement.seconds;
    outcomes.push_back({std::move(measurement), build_seconds + monotonic_seconds() - start, build_seconds});
    if (listener.done) LATHE_TRY_STATUS(listener.done(i, outcomes.back()));
  }
  return outcomes;
}

Result<FullCheck> LocalEvaluator::check_in_full(const MeasureJob& job, const Watch& watch) {
  State& s = *state_;
  FullCheck check;
  const Result<Problem*> problem = s.problem_of(job.checked, watch);
  if (!problem && problem.error().kind == ErrorKind::timeout) {
    check.unfinished = kNoTimeLeft;
    return check;
  }
  if (!problem) return std::unexpected(problem.error());
  std::future<Built> built = std::async(std::launch::deferred, [&job] { return build(job); });
  double seconds = 0;
  const auto module = s.module_of(job, built, {}, seconds);
  if (!module) {
    check.failure = MeasureFailure{module.error().kind, module.error().to_string()};
    return check;
  }
  return (*problem)->check_in_full(job.program->program, job.program->trace, **module, *s.runner, watch);
}

}  // namespace lathe
