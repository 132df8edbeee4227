// lathe tune: searches fast programs for a network's tasks or for operators, and keeps what it measures.
#include "tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "artifact/compile_model.h"
#include "cli/check_outputs.h"
#include "cli/closing_seconds.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/measuring.h"
#include "cli/open_records.h"
#include "cli/progress.h"
#include "cli/tune_report.h"
#include "cli/write_model.h"
#include "evaluate/local_evaluator.h"
#include "measure/peak.h"
#include "measure/timing.h"
#include "records/within.h"
#include "target/detect.h"
#include "tune/exact_specials.h"
#include "tune/select_workloads.h"

namespace lathe::cli {
namespace {

// Per cent of what the peaks allow: measurements vary by as much as is left.
constexpr double kEnough = 97;

struct TuneCommand {
  ProgramOptions program;
  std::optional<int64_t> trials;
  std::optional<double> seconds;
  std::optional<double> case_seconds;
  std::optional<double> enough;  // per cent
  std::optional<double> weights_limit;
  TuneOptions search;
  std::string layout;  // empty: left out
  std::string scheduler = "gradient";
  std::string records = "./lathe.db";
  std::string json;
  std::string out;
  std::string check;
  std::string name;
};

// What every part of a tuning run needs.
struct Session {
  Target target;
  RecordStore records;
  Measurer measurer;
  TuneBudget budget;
  std::set<int64_t> confirmed = {};  // records whose programs this run has compared in full
  std::set<int64_t> sampled = {};    // those of which it has compared a sample
};

Result<Peaks> measure_peaks(const Target& target) {
  LATHE_TRY(const double gigabytes,
            measure_read_gigabytes(target, bytes_beyond_caches(target) / cores_of(target)));
  return Peaks{measure_fma_gflops(target), gigabytes};
}

TuneBudget budget_of(const TuneCommand& command, const Deadline& deadline, const Target& target) {
  TuneBudget budget;
  if (command.seconds) {
    budget.deadline = deadline;
    budget.trials = std::numeric_limits<int64_t>::max();
  }
  if (command.trials) budget.trials = *command.trials;
  budget.stop = [] { return noted_interrupt() != nullptr; };
  if (command.case_seconds) budget.case_seconds = *command.case_seconds;
  const double enough = command.enough.value_or(kEnough);
  if (enough > 0) budget.stop_rule = StopRule(enough / 100, [=] { return measure_peaks(target); });
  return budget;
}

Result<Session> start(const TuneCommand& command, const Deadline& deadline) {
  LATHE_TRY(Target target, target_here(command.program));
  LATHE_TRY(RecordStore records, open_records(command.records));
  LATHE_TRY(Measurer measurer, start_measurer(cores_of(target)));
  TuneBudget budget = budget_of(command, deadline, target);
  return Session{std::move(target), std::move(records), std::move(measurer), std::move(budget)};
}

// How long the search still takes: until its deadline, or as long as the trials so far let expect.
std::string time_left(const TuneState& state, const Deadline& deadline, double seconds) {
  const double until_deadline = deadline.seconds_left();
  if (std::isfinite(until_deadline)) return ", " + told_seconds(std::max(0.0, until_deadline)) + " left";
  // Once all trials are done what the rest takes is nothing that they tell.
  constexpr double kTelling = 0.02;
  if (state.share < kTelling || state.share >= 1) return "";
  return fmt::format(", about {} of trials left", told_seconds(seconds * (1 - state.share) / state.share));
}

std::string state_text(const TuneState& state, const std::string& left) {
  const TuneProgress& progress = state.progress;
  const std::string best = progress.best_seconds > 0
                               ? fmt::format("best {:.3f} us", progress.best_seconds * 1e6)
                               : "no program yet";
  if (state.is_concluding)
    return fmt::format("{}: the best programs once more, {}{}", state.name, best, left);
  return fmt::format("{}: {} trials, {} failed, {}{}", state.name, progress.trials, progress.failed, best,
                     left);
}

// `layouts` are those of the tasks, in turns; where there are several a task's is told with its name.
TuneObserver observer_on(ProgressLine& line, const Deadline& deadline,
                         const std::vector<std::string>& layouts) {
  return [&line, deadline, layouts, start = monotonic_seconds()](TuneState state) {
    if (layouts.size() > 1 && layouts[state.index % layouts.size()] == "fixed") state.name += " (row-major)";
    if (state.work) {
      WorkState work = *state.work;
      work.what = fmt::format("{}: {}", state.name, work.what);
      line.show_work(state.index + 1, state.count, work);
      return;
    }
    const std::string left = time_left(state, deadline, monotonic_seconds() - start);
    line.show(state.index + 1, state.count, state_text(state, left));
  };
}

LocalEvaluator evaluator_of(Session& session) {
  return LocalEvaluator(session.measurer,
                        {.overlap = static_cast<int>(allowed_cpus().size()) > cores_of(session.target)});
}

using WorkObserver = std::function<void(const WorkState&)>;

// Shows what lasts while the artifact of this number is made.
WorkObserver work_on(ProgressLine& line, const size_t& number, size_t count) {
  return [&line, &number, count](const WorkState& state) { line.show_work(number, count, state); };
}

// The winners have been compared; what else is compiled is now, with so much to do afterwards.
CompileModelOptions compile_options(const TuneCommand& command, Session& session, double later_seconds,
                                    const WorkObserver& observer) {
  CompileModelOptions compiling{session.target, &session.records, &session.measurer};
  compiling.tolerance = command.search.tolerance;
  compiling.check = checked_of(command.check);
  compiling.watch.deadline = session.budget.deadline.earlier_by(later_seconds);
  compiling.watch.observer = observer;
  compiling.confirmed = session.confirmed;
  compiling.sampled = session.sampled;
  compiling.exact_specials = command.program.exact_specials;
  compiling.rejected = report_rejected;
  compiling.note = report_note;
  if (command.weights_limit) compiling.weights_limit = *command.weights_limit;
  return compiling;
}

ReportRow row_of(const CaseResult& result, const TuneCommand& command, const Session& session) {
  ReportRow row;
  row.result = result;
  row.cores = cores_of(session.target);
  row.target = session.target.name;
  row.strategy = command.search.strategy;
  return row;
}

// The folders that artifacts will be written to.
std::vector<std::string> folders_of(const TuneCommand& command, const std::vector<Workload>& workloads) {
  std::vector<std::string> folders;
  if (command.out.empty()) return folders;
  if (workloads.empty()) folders.push_back(command.out);
  for (const Workload& workload : workloads) folders.push_back(folder_below(command.out, workload.name));
  return folders;
}

// Which layouts of its activations an operator is tuned with. Whoever calls an artifact has row-major
// tensors, and what a free layout gains may be less than its conversions take: then both are tried.
std::vector<std::string> layouts_of(const TuneCommand& command) {
  if (!command.layout.empty()) return {command.layout};
  if (command.out.empty()) return {"free"};
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

void note_comparison(const CaseResult& result, Session& session) {
  if (!result.winner) return;
  (result.winner->only_sampled ? session.sampled : session.confirmed).insert(result.winner->record);
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
ReportRow joined_row(const ReportRow& row, const ReportRow& other) {
  const TuneProgress& first = row.result.progress;
  const TuneProgress& second = other.result.progress;
  const bool is_better =
      second.best_seconds > 0 && (first.best_seconds == 0 || second.best_seconds < first.best_seconds);
  ReportRow joined = is_better ? other : row;
  TuneProgress& progress = joined.result.progress;
  progress.trials = first.trials + second.trials;
  progress.failed = first.failed + second.failed;
  progress.slowest_pace = std::max(first.slowest_pace, second.slowest_pace);
  joined.result.wall_seconds = row.result.wall_seconds + other.result.wall_seconds;
  joined.result.failures = joined_failures(row.result.failures, other.result.failures);
  return joined;
}

Result<std::vector<ReportRow>> tune_workloads(const TuneCommand& command,
                                              const std::vector<Workload>& workloads, Session& session) {
  const std::vector<std::string> layouts = layouts_of(command);
  std::vector<Task> tasks;
  for (const Workload& workload : workloads) {
    for (const std::string& layout : layouts) {
      LATHE_TRY(Task task, make_task(workload, session.target, layout == "free"));
      if (command.program.exact_specials) {
        LATHE_TRY(task, within(workload.name, with_exact_specials(std::move(task))));
      }
      tasks.push_back(std::move(task));
    }
  }
  if (!command.out.empty())
    session.budget.closing_seconds = closing_seconds(tasks) / static_cast<double>(layouts.size());
  ProgressLine line;
  LocalEvaluator evaluator = evaluator_of(session);
  hold_interrupts();
  LATHE_TRY(const std::vector<CaseResult> results,
            tune_cases(tasks, command.search, shared_budget(session.budget, layouts.size(), tasks.size()),
                       evaluator, session.records, observer_on(line, session.budget.deadline, layouts)));
  release_interrupts();
  line.finish();
  std::vector<ReportRow> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    ReportRow row = row_of(results[i], command, session);
    const Workload& workload = workloads[i / layouts.size()];
    row.op = workload.op;
    row.flops = workload.operation.flops;
    row.bytes = bytes_of(tasks[i].dag);
    row.layout = layouts[i % layouts.size()];
    note_comparison(row.result, session);
    if (i % layouts.size() == 0) {
      rows.push_back(std::move(row));
    } else {
      rows.back() = joined_row(rows.back(), row);
    }
  }
  return rows;
}

Result<Network> network_of(const TuneCommand& command, const Session& session) {
  LATHE_TRY(const OnnxImportOptions import, import_options(command.program));
  LATHE_TRY(Network network,
            load_network(command.program.model, import, session.target, command.program.exact_specials));
  if (!command.out.empty()) LATHE_TRY_STATUS(check_artifact_apart(command.out, data_files(network.graph)));
  for (const std::string& note : network.graph.notes) report_rejected(note);
  return network;
}

Result<std::vector<ReportRow>> tune_network(const TuneCommand& command, const Network& network,
                                            Session& session) {
  const std::vector<WeightedTask>& tasks = network.tasks.tasks;
  ProgressLine line;
  LocalEvaluator evaluator = evaluator_of(session);
  hold_interrupts();
  LATHE_TRY(const std::vector<CaseResult> results,
            tune_network_tasks(tasks, command.scheduler, command.search, session.budget, evaluator,
                               session.records, observer_on(line, session.budget.deadline, {})));
  release_interrupts();
  line.finish();
  std::vector<ReportRow> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    rows.push_back(row_of(results[i], command, session));
    rows.back().op = "network";
    rows.back().flops = flops_of(tasks[i].task.dag);
    rows.back().bytes = bytes_of(tasks[i].task.dag);
    rows.back().layout = "fixed";
    rows.back().uses = tasks[i].weight;
    note_comparison(results[i], session);
  }
  return rows;
}

// What two parts of the command ended with: the error of the second, or else of the first. Where both failed
// the first's is said on stderr; the one that is given is the command's own, which is told like any other.
Status joined(const Status& first, const Status& second) {
  if (second) return first;
  if (!first) report_rejected(first.error().to_string());
  return second;
}

Status write(Result<Model> model, const TuneCommand& command, const std::string& folder,
             const Deadline& deadline) {
  if (!model) return std::unexpected(model.error());
  if (const auto note = uncompared_note(*model)) report_rejected(*note);
  if (!command.name.empty()) model->name = command.name;
  return write_model(std::move(*model), folder, deadline);
}

// What was not tried is compiled, one operator in any case, as long as this command is late by no more.
constexpr double kLateSeconds = 1;

// Of the operators that a program was found for, then of those that nothing was tried for, as `compile` would
// write them; one that fails keeps none of the others from being written. Where they are short of time each
// is left as much of it as the others.
Status write_operators(const std::vector<Workload>& workloads, const std::vector<ReportRow>& rows,
                       const TuneCommand& command, Session& session) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].result.progress.best_seconds > 0) order.push_back(i);
  for (size_t i = 0; i < rows.size(); ++i)
    if (is_untried(rows[i])) order.push_back(i);
  const Deadline& deadline = session.budget.deadline;
  const double planned = session.budget.closing_seconds / std::max(1.0, static_cast<double>(rows.size()));
  Status all;
  ProgressLine line;
  size_t done = 0;
  const WorkObserver observer = work_on(line, done, order.size());
  for (; done < order.size(); ++done) {
    const size_t i = order[done];
    if (done > 0 && is_untried(rows[i]) && deadline.seconds_left() < -kLateSeconds) break;
    const auto count = static_cast<double>(order.size() - done);
    const double each = std::clamp(deadline.seconds_left() / count, 0.0, planned);
    Result<Model> model =
        compile_operator(workloads[i], compile_options(command, session, each * count, observer));
    line.finish();
    all = joined(all, write(std::move(model), command, folder_below(command.out, workloads[i].name),
                            deadline.earlier_by(each * (count - 1))));
  }
  if (done == order.size()) return all;
  return joined(all, fail(ErrorKind::timeout,
                          fmt::format("there was no time left to write the artifacts of {} of {} operators; "
                                      "`lathe compile` writes them",
                                      order.size() - done, rows.size())));
}

Status write_network(const Network& network, const TuneCommand& command, Session& session) {
  ProgressLine line;
  size_t compiled = 0;
  const WorkObserver observer = work_on(line, compiled, network.tasks.tasks.size());
  CompileModelOptions options = compile_options(command, session, closing_seconds(network) / 2, observer);
  options.progress = [&](size_t done, size_t) { compiled = done; };
  Result<Model> model = compile_network(network, options);
  line.finish();
  return write(std::move(model), command, command.out, session.budget.deadline);
}

// The report may be none of the artifacts' files, and neither may be what is read or measured.
Status check_files_apart(const TuneCommand& command, const std::vector<std::string>& folders) {
  const std::vector<NamedFile> read = files_read(command.program, command.records);
  LATHE_TRY_STATUS(check_apart({"--json", command.json}, read));
  for (const std::string& folder : folders) {
    LATHE_TRY_STATUS(check_artifact_apart(folder, read));
    LATHE_TRY_STATUS(check_apart({"--json", command.json}, artifact_files("--out", folder)));
  }
  return {};
}

// Says which options that were given change nothing.
void note_idle_options(const TuneCommand& command, const OptionSet& options) {
  const bool is_network = !command.program.model.empty();
  if (is_network && options.has("--layout") && command.layout == "free")
    to_stderr("lathe: note: --layout free has no effect here: a network's tasks have fixed layouts\n");
  if (is_network && options.has("--case-time"))
    to_stderr("lathe: note: --case-time has no effect here: a network's tasks share --time\n");
  if (!is_network && options.has("--scheduler"))
    to_stderr("lathe: note: --scheduler has no effect here: operators are tuned one after another\n");
}

Status run(const TuneCommand& command, const OptionSet& options) {
  const Deadline deadline = command.seconds ? Deadline::in(*command.seconds) : Deadline();
  LATHE_TRY_STATUS(check(command.program));
  LATHE_TRY_STATUS(check_task_scheduler(command.scheduler));
  note_idle_options(command, options);
  const bool is_network = !command.program.model.empty();
  std::vector<Workload> workloads;
  if (!is_network) {
    LATHE_TRY(workloads, select_workloads(command.program.workload, command.program.filter));
  }
  LATHE_TRY_STATUS(check_name(command.name, is_network ? 1 : workloads.size()));
  const std::vector<std::string> folders = folders_of(command, workloads);
  LATHE_TRY_STATUS(check_files_apart(command, folders));
  LATHE_TRY_STATUS(check_outputs(folders, command.json));
  if (!command.out.empty()) LATHE_TRY_STATUS(check_compiler());
  LATHE_TRY(Session session, start(command, deadline));
  std::optional<Network> network;
  if (is_network) {
    LATHE_TRY(network, network_of(command, session));
    const double weights_limit = command.weights_limit.value_or(CompileModelOptions{}.weights_limit);
    if (!command.out.empty())
      session.budget.closing_seconds =
          closing_seconds(*network) + limiting_seconds(*network, weights_limit, deadline);
  }
  LATHE_TRY(const std::vector<ReportRow> rows,
            network ? tune_network(command, *network, session) : tune_workloads(command, workloads, session));
  print_report(rows, session.target);
  if (const char* signal = noted_interrupt()) {
    report_stop(signal, command.records);
    return {};
  }
  report_enough(rows);
  report_sampled(rows);
  report_failures(rows);
  warn_of_noise(rows);
  report_untried(rows, !command.out.empty());
  warn_of_untuned(rows);
  // The report may lie in a folder of the artifacts.
  Status written;
  if (!command.out.empty())
    written = network ? write_network(*network, command, session)
                      : write_operators(workloads, rows, command, session);
  if (!command.json.empty()) written = joined(written, write_report(rows, command.json));
  return joined(written, check_all_found(rows, !command.out.empty()));
}

}  // namespace

void add_tune(CLI::App& app, Action& chosen) {
  OptionSet options = add_command(app, "tune", "search fast programs for a model or operators");
  const auto command = std::make_shared<TuneCommand>();
  add_program_options(options, command->program);
  options.number(
      "--trials", command->trials,
      "measured candidates per task, those in the records included; default: 64, any number with --time",
      {1, int64_t{1} << 40});
  options.number(
      "--time", command->seconds,
      "seconds for the whole command, with artifacts; what there is no time for is left out and said",
      {0, 1e9});
  options.number("--case-time", command->case_seconds,
                 "seconds for the trials of each case of a workload at most", {0, 1e9});
  options.number(
      "--enough", command->enough,
      fmt::format("a task's search ends once its best program has so many per cent of the speed that "
                  "the machine's peaks allow; default: {}, 0: never",
                  kEnough)
          .c_str(),
      {0, 100});
  options.number("--seed", command->search.seed, "of the search", {.shows_default = true});
  options.text("--space", command->search.space, "which programs are searched", {.shows_default = true});
  options.text("--strategy", command->search.strategy, "who to try next", {.shows_default = true});
  options.text("--cost-model", command->search.cost_model, "what ranks candidates", {.shows_default = true});
  options.text("--scheduler", command->scheduler, "how a network's tasks share the trials",
               {.shows_default = true});
  options.text(
      "--layout", command->layout,
      "of activations in operators: free or fixed; default: free, with --out both, half of the trials "
      "each",
      {.one_of = {"free", "fixed"}});
  options.number(
      "--tolerance", command->search.tolerance,
      "largest difference from the reference, as a share of its magnitude; default: by the type, the "
      "reduction's length and the algorithm",
      {0, 1});
  add_weights_limit(options, command->weights_limit);
  options.text("--records", command->records, "the records file", {.shows_default = true});
  options.text("--json", command->json, "write the results there, at the end");
  options.text("--out", command->out, "write artifacts there, when all tuning is done");
  add_check_option(options, command->check);
  options.text("--name", command->name, kNameHelp);
  options.action(chosen, [command, options] { return run(*command, options); });
}

}  // namespace lathe::cli
