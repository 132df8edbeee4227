#include "session/commands/tune_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "measure/peak.h"
#include "search/all.h"
#include "session/commands/check_destinations.h"
#include "session/commands/closing_seconds.h"
#include "session/commands/write_network.h"
#include "session/load_source.h"
#include "session/open_records.h"
#include "session/start_measurer.h"
#include "target/detect.h"

namespace lathe {
namespace {

Result<Peaks> measure_peaks(const Target& target) {
  LATHE_TRY(const double gigabytes,
            measure_read_gigabytes(target, bytes_beyond_caches(target) / cores_of(target)));
  return Peaks{measure_fma_gflops(target), gigabytes};
}

TuneBudget budget_of(const TuneRequest& request, const Deadline& deadline, const Target& target) {
  TuneBudget budget;
  if (request.seconds) {
    budget.deadline = deadline;
    budget.trials = std::numeric_limits<int64_t>::max();
  }
  if (request.trials) budget.trials = *request.trials;
  if (request.case_seconds) budget.case_seconds = *request.case_seconds;
  const double enough = request.enough.value_or(kEnough);
  if (enough > 0 && has_peaks(target))
    budget.stop_rule = StopRule(enough / 100, [=] { return measure_peaks(target); });
  return budget;
}

// The folders that artifacts will be written to.
std::vector<std::string> folders_of(const TuneRequest& request) {
  std::vector<std::string> folders;
  if (request.out.empty()) return folders;
  if (request.workloads.empty()) folders.push_back(request.out);
  for (const Workload& workload : request.workloads)
    folders.push_back(folder_below(request.out, workload.name));
  return folders;
}

// The report may be none of the artifacts' files, and neither may be what is read or measured.
Status check_files_apart(const TuneRequest& request, const std::vector<std::string>& folders) {
  const std::vector<NamedFile> read = files_read(request.source, request.records);
  LATHE_TRY_STATUS(check_apart({"--json", request.json}, read));
  for (const std::string& folder : folders) {
    LATHE_TRY_STATUS(check_artifact_apart(folder, read));
    LATHE_TRY_STATUS(check_apart({"--json", request.json}, artifact_files("--out", folder)));
  }
  return {};
}

// Which layouts of its activations an operator is tuned with.
std::vector<std::string> layouts_of(const TuneRequest& request) {
  if (!request.layout.empty()) return {request.layout};
  if (request.out.empty() && !request.both_layouts) return {"free"};
  return {"free", "fixed"};
}

// The trials and the time of each operator, shared out among its layouts, which follow each other.
TuneBudget shared_budget(TuneBudget budget, size_t layouts, size_t cases) {
  const auto count = static_cast<int64_t>(layouts);
  for (size_t i = 0; i < cases; ++i) {
    const int64_t place = static_cast<int64_t>(i) % count;
    budget.case_trials.push_back(budget.trials / count + (place < budget.trials % count ? 1 : 0));
  }
  budget.case_seconds /= static_cast<double>(layouts);
  return budget;
}

// Why programs failed in either of two searches.
std::vector<FailureCount> joined_failures(std::vector<FailureCount> failures,
                                          const std::vector<FailureCount>& others) {
  for (const FailureCount& other : others) {
    const auto same = std::ranges::find(failures, other.first.kind,
                                        [](const FailureCount& failure) { return failure.first.kind; });
    if (same == failures.end()) {
      failures.push_back(other);
    } else {
      same->count += other.count;
    }
  }
  return failures;
}

// What the layouts of one operator came to together: the faster kernel.
CaseReport joined_row(const CaseReport& row, const CaseReport& other) {
  const TuneProgress& first = row.result.progress;
  const TuneProgress& second = other.result.progress;
  const bool is_better =
      second.best_seconds > 0 && (first.best_seconds == 0 || second.best_seconds < first.best_seconds);
  CaseReport joined = is_better ? other : row;
  TuneProgress& progress = joined.result.progress;
  progress.trials = first.trials + second.trials;
  progress.failed = first.failed + second.failed;
  progress.slowest_pace = std::max(first.slowest_pace, second.slowest_pace);
  joined.result.wall_seconds = row.result.wall_seconds + other.result.wall_seconds;
  joined.result.failures = joined_failures(row.result.failures, other.result.failures);
  return joined;
}

}  // namespace

TuneSession::TuneSession(TuneRequest request, TuneListener listener, Target target, RecordStore records,
                         Measurer measurer)
    : request_(std::move(request)),
      listener_(std::move(listener)),
      target_(std::move(target)),
      records_(std::move(records)),
      measurer_(std::move(measurer)) {}

Result<TuneSession> TuneSession::start(TuneRequest request, TuneListener listener) {
  const Deadline deadline = request.seconds ? Deadline::in(*request.seconds) : Deadline();
  LATHE_TRY_STATUS(check_task_scheduler(request.scheduler));
  if (!request.search.strategy_factory) LATHE_TRY_STATUS(check_strategy(request.search.strategy));
  if (request.workloads.empty() && request.network == nullptr) {
    LATHE_TRY_STATUS(check_source(request.source));
    if (request.source.model.empty()) {
      LATHE_TRY(request.workloads, load_workloads(request.source));
    }
  }
  LATHE_TRY_STATUS(check_name(request.name, std::max<size_t>(1, request.workloads.size())));
  const std::vector<std::string> folders = folders_of(request);
  LATHE_TRY_STATUS(check_files_apart(request, folders));
  LATHE_TRY_STATUS(check_destinations(folders, request.json));
  if (!request.out.empty()) LATHE_TRY_STATUS(check_compiler());
  LATHE_TRY(Target target, target_here(request.source));
  if (!request.out.empty() || request.both_layouts) LATHE_TRY_STATUS(check_has_artifacts(target));
  LATHE_TRY(RecordStore records, open_records(request.records, listener.note));
  LATHE_TRY(Measurer measurer, start_measurer(request.worker, cores_of(target)));
  TuneSession session(std::move(request), std::move(listener), std::move(target), std::move(records),
                      std::move(measurer));
  session.budget_ = budget_of(session.request_, deadline, session.target_);
  session.budget_.stop = session.listener_.stop;
  if (session.request_.workloads.empty()) LATHE_TRY_STATUS(session.read_network());
  return session;
}

Status TuneSession::read_network() {
  if (request_.network == nullptr) {
    LATHE_TRY(Network network, load_network(request_.source, target_));
    request_.network = std::make_shared<const Network>(std::move(network));
  }
  const Graph& graph = request_.network->graph;
  if (!request_.out.empty()) LATHE_TRY_STATUS(check_artifact_apart(request_.out, data_files(graph)));
  for (const std::string& note : graph.notes) tell(listener_.note, note);
  if (request_.out.empty()) return {};
  if (!request_.source.precision.empty()) {
    Watch watch{budget_.deadline, listener_.stop, {}};
    watch.observer = [this](const WorkState& state) {
      if (listener_.work) listener_.work(0, 1, state);
    };
    LATHE_TRY(precision_reference_,
              PrecisionReference::make(request_.source, target_, measurer_, request_.out, watch));
  }
  budget_.closing_seconds = closing_seconds(*request_.network);
  // Where the search keeps most of the time; with less a race is made if time is left.
  constexpr double kMostOfTime = 1.0 / 3;
  const double with_race = budget_.closing_seconds + race_in_place_seconds(budget_.closing_seconds, 0);
  if (with_race < kMostOfTime * budget_.deadline.seconds_left()) budget_.closing_seconds = with_race;
  return {};
}

Result<std::vector<CaseReport>> TuneSession::tune() {
  return request_.network ? tune_network() : tune_workloads();
}

// Where there are several layouts, which are those of the tasks in turns, a task's is told with its name.
TuneObserver TuneSession::observer(const std::vector<std::string>& layouts) const {
  if (!listener_.state) return {};
  return [layouts, told = listener_.state](TuneState state) {
    if (layouts.size() > 1 && layouts[state.index % layouts.size()] == "fixed") state.name += " (row-major)";
    told(state);
  };
}

LocalEvaluator TuneSession::evaluator() {
  return LocalEvaluator(measurer_, {.overlap = static_cast<int>(allowed_cpus().size()) > cores_of(target_)});
}

CaseReport TuneSession::row_of(const CaseResult& result) {
  if (result.winner) (result.winner->only_sampled ? sampled_ : confirmed_).insert(result.winner->record);
  CaseReport row;
  row.result = result;
  row.cores = cores_of(target_);
  row.target = target_.name;
  row.strategy = request_.search.strategy;
  return row;
}

Result<std::vector<CaseReport>> TuneSession::tune_workloads() {
  const std::vector<std::string> layouts = layouts_of(request_);
  std::vector<Task> tasks;
  for (const Workload& workload : request_.workloads) {
    for (const std::string& layout : layouts) {
      LATHE_TRY(Task task, task_of(workload, target_, layout == "free", request_.source.exact_specials));
      tasks.push_back(std::move(task));
    }
  }
  if (!request_.out.empty())
    budget_.closing_seconds = closing_seconds(tasks) / static_cast<double>(layouts.size());
  LocalEvaluator measuring = evaluator();
  LATHE_TRY(const std::vector<CaseResult> results,
            tune_cases(tasks, request_.search, shared_budget(budget_, layouts.size(), tasks.size()),
                       measuring, records_, observer(layouts)));
  std::vector<CaseReport> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    CaseReport row = row_of(results[i]);
    const Workload& workload = request_.workloads[i / layouts.size()];
    row.op = workload.op;
    row.flops = workload.operation.flops;
    row.bytes = bytes_of(tasks[i].dag);
    row.layout = layouts[i % layouts.size()];
    if (i % layouts.size() == 0) {
      rows.push_back(std::move(row));
    } else {
      rows.back() = joined_row(rows.back(), row);
    }
  }
  return rows;
}

Result<std::vector<CaseReport>> TuneSession::tune_network() {
  const std::vector<WeightedTask>& tasks = request_.network->tasks.tasks;
  LocalEvaluator measuring = evaluator();
  LATHE_TRY(const std::vector<CaseResult> results,
            tune_network_tasks(tasks, request_.scheduler, request_.search, budget_, measuring, records_,
                               observer({})));
  std::vector<CaseReport> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    rows.push_back(row_of(results[i]));
    rows.back().op = "network";
    rows.back().flops = flops_of(tasks[i].task.dag);
    rows.back().bytes = bytes_of(tasks[i].task.dag);
    rows.back().layout = "fixed";
    rows.back().uses = tasks[i].weight;
  }
  return rows;
}

CompileModelOptions TuneSession::compile_options(double later_seconds, const WorkObserver& work) {
  CompileModelOptions compiling{target_, &records_, &measurer_};
  compiling.tolerance = request_.search.tolerance;
  compiling.check = request_.check;
  compiling.watch.deadline = budget_.deadline.earlier_by(later_seconds);
  compiling.watch.observer = work;
  compiling.confirmed = confirmed_;
  compiling.sampled = sampled_;
  compiling.exact_specials = request_.source.exact_specials;
  compiling.rejected = [this](const std::string& sentence) { tell(listener_.rejected, sentence); };
  compiling.note = [this](const std::string& sentence) { tell(listener_.note, sentence); };
  if (request_.weights_limit) compiling.weights_limit = *request_.weights_limit;
  return compiling;
}

Status TuneSession::write(const std::vector<CaseReport>& rows) {
  return request_.network ? write_network() : write_operators(rows);
}

Status TuneSession::write_one(Result<Model> model, const std::string& folder, const Deadline& deadline) {
  if (!model) return std::unexpected(model.error());
  if (const auto note = uncompared_note(*model)) tell(listener_.rejected, *note);
  if (!request_.name.empty()) model->name = request_.name;
  const auto run = [this](const WorkState& state) {
    if (listener_.work) listener_.work(0, 1, state);
  };
  LATHE_TRY(const WrittenModel written, write_model(std::move(*model), folder, deadline, run));
  if (listener_.written) listener_.written(written);
  return {};
}

// Artifacts are written, one in any case, as long as this command is late by no more; records keep what was
// found for the others.
constexpr double kLateSeconds = 1;

Status TuneSession::write_operators(const std::vector<CaseReport>& rows) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i)
    if (has_program(rows[i])) order.push_back(i);
  for (size_t i = 0; i < rows.size(); ++i)
    if (is_untried(rows[i])) order.push_back(i);
  const Deadline& deadline = budget_.deadline;
  const double planned = budget_.closing_seconds / std::max(1.0, static_cast<double>(rows.size()));
  Status all;
  size_t done = 0;
  const WorkObserver work = [&](const WorkState& state) {
    if (listener_.work) listener_.work(done, order.size(), state);
  };
  for (; done < order.size(); ++done) {
    const size_t i = order[done];
    if (done > 0 && deadline.seconds_left() < -kLateSeconds) break;
    const auto count = static_cast<double>(order.size() - done);
    const double each = std::clamp(deadline.seconds_left() / count, 0.0, planned);
    const Workload& workload = request_.workloads[i];
    // Where programs race two more are built.
    const double race_builds = 2 * rows[i].result.progress.build_seconds;
    Result<Model> model = compile_operator(workload, compile_options(each * count + race_builds, work));
    all = joined(all,
                 write_one(std::move(model), folder_below(request_.out, workload.name),
                           deadline.earlier_by(each * (count - 1))),
                 listener_.rejected);
  }
  if (done == order.size()) return all;
  const Status late = fail(ErrorKind::timeout,
                           fmt::format("there was no time left to write the artifacts of {} of {} operators; "
                                       "`lathe compile` writes them",
                                       order.size() - done, rows.size()));
  return joined(all, late, listener_.rejected);
}

Status TuneSession::write_network() {
  const Network& network = *request_.network;
  size_t compiled = 0;
  const WorkObserver work = [&](const WorkState& state) {
    if (listener_.work) listener_.work(compiled, network.tasks.tasks.size(), state);
  };
  CompileModelOptions options = compile_options(closing_seconds(network) / 2, work);
  options.progress = [&](size_t done, size_t) { compiled = done; };
  LATHE_TRY(WrittenNetwork written,
            lathe::write_network(network, options,
                                 {request_.out, request_.name, budget_.deadline, listener_.stop, work}));
  if (written.uncompared) tell(listener_.rejected, *written.uncompared);
  if (precision_reference_) {
    LATHE_TRY(written.model.precision,
              state_error(*precision_reference_, request_.out, request_.source.precision));
  }
  if (listener_.written) listener_.written(written.model);
  return {};
}

Status joined(const Status& first, const Status& second, const Teller& rejected) {
  if (second) return first;
  if (!first) tell(rejected, first.error().to_string());
  return second;
}

}  // namespace lathe
