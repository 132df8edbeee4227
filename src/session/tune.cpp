// lathe/tune.h.
#include "lathe/tune.h"

#include <fmt/format.h>

#include "session/commands/tune_session.h"
#include "session/compiled_state.h"
#include "session/computation_state.h"
#include "session/own_search.h"

namespace lathe {
namespace {

TuneRequest request_of(const Computation::State& state, const TuneChoice& choice) {
  TuneRequest request;
  request.source = state.source;
  if (state.workload) request.workloads.push_back(*state.workload);
  request.network = state.network;
  request.both_layouts = true;
  request.trials = choice.trials;
  request.seconds = choice.seconds;
  request.enough = choice.enough;
  request.search.seed = choice.seed;
  request.search.strategy = choice.strategy;
  request.search.cost_model = choice.cost_model;
  request.search.batch = choice.batch;
  use_own_search(request.search, choice.search_method, choice.cost_predictor);
  request.records = choice.records;
  request.worker = choice.worker;
  return request;
}

std::string told(const TuneState& state) {
  if (state.work) return fmt::format("{}: {}", state.name, state.work->what);
  const TuneProgress& progress = state.progress;
  return fmt::format("{}: {} trials, {} failed, {}", state.name, progress.trials, progress.failed,
                     progress.best_seconds > 0 ? fmt::format("best {:.3f} us", progress.best_seconds * 1e6)
                                               : "no program yet");
}

TuneListener listener_of(const TuneChoice& choice) {
  TuneListener listener;
  if (choice.progress)
    listener.state = [progress = choice.progress](const TuneState& state) { progress(told(state)); };
  listener.rejected = choice.note;
  listener.note = choice.note;
  listener.stop = choice.stop;
  return listener;
}

TunedTask task_of(const CaseReport& row) {
  TunedTask task;
  task.name = row.result.name;
  task.trials = row.result.progress.trials;
  task.failed = row.result.progress.failed;
  task.seconds = row.result.progress.best_seconds;
  task.spread = row.result.progress.best_spread;
  task.gflops = has_program(row) ? gflops_of(row) : 0;
  task.uses = row.uses;
  return task;
}

Status check_bounds(const TuneChoice& choice) {
  if (choice.trials && *choice.trials < 1)
    return fail(ErrorKind::invalid_argument, "the number of trials must be at least 1", "trials");
  if (choice.batch < 1)
    return fail(ErrorKind::invalid_argument, "the number of candidates in a batch must be at least 1",
                "batch");
  if (choice.seconds && !(*choice.seconds >= 0))
    return fail(ErrorKind::invalid_argument, "the time must be a number of seconds, 0 or more", "time");
  if (choice.enough && !(*choice.enough >= 0 && *choice.enough <= 100))
    return fail(ErrorKind::invalid_argument, "enough must be a number of per cent, 0 to 100", "enough");
  return {};
}

}  // namespace

Result<TuneResult> tune(const Computation& computation, const TuneChoice& choice) {
  LATHE_TRY_STATUS(check_bounds(choice));
  const Computation::State& state = computation.state();
  LATHE_TRY(TuneSession session, TuneSession::start(request_of(state, choice), listener_of(choice)));
  LATHE_TRY(const std::vector<CaseReport> rows, session.tune());
  TuneResult result;
  for (const CaseReport& row : rows) result.tasks.push_back(task_of(row));
  if (choice.stop && choice.stop()) return result;
  LATHE_TRY_STATUS(check_all_found(rows, true));
  CompileModelOptions options = session.compile_options(0, {});
  options.watch.stop = choice.stop;
  auto compiled = std::make_shared<Compiled::State>();
  LATHE_TRY(compiled->model, state.network ? compile_network(*state.network, options)
                                           : compile_operator(*state.workload, options));
  if (const auto note = uncompared_note(compiled->model)) tell(choice.note, *note);
  result.compiled.emplace(std::move(compiled));
  return result;
}

}  // namespace lathe
