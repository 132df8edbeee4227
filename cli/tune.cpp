// lathe tune: searches fast programs for a network's tasks or for operators, and keeps what it measures.
#include "tune/tune.h"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>

#include "artifact/compile_model.h"
#include "cli/check_outputs.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/measuring.h"
#include "cli/progress.h"
#include "cli/tune_report.h"
#include "cli/write_model.h"
#include "measure/peak.h"
#include "records/record_store.h"
#include "target/detect.h"
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
  TuneOptions search;
  std::string layout = "free";
  std::string scheduler = "gradient";
  std::string records = "./lathe.db";
  std::string json;
  std::string out;
};

// What every part of a tuning run needs.
struct Session {
  Target target;
  int cores = 1;
  RecordStore records;
  Measurer measurer;
  TuneBudget budget;
};

// On so many cores.
Result<Peaks> measure_peaks(const Target& target, int cores) {
  LATHE_TRY(const double gigabytes,
            measure_read_gigabytes(target, cores, bytes_beyond_caches(target) / cores));
  return Peaks{measure_fma_gflops(target, cores), gigabytes};
}

TuneBudget budget_of(const TuneCommand& command, const Target& target, int cores) {
  TuneBudget budget;
  if (command.seconds) {
    budget.seconds = *command.seconds;
    budget.trials = std::numeric_limits<int64_t>::max();
  }
  if (command.trials) budget.trials = *command.trials;
  budget.stop = [] { return noted_interrupt() != nullptr; };
  if (command.case_seconds) budget.case_seconds = *command.case_seconds;
  const double enough = command.enough.value_or(kEnough);
  if (enough > 0) budget.stop_rule = StopRule(enough / 100, [=] { return measure_peaks(target, cores); });
  return budget;
}

Result<Session> start(const TuneCommand& command) {
  LATHE_TRY(Target target, target_of(command.program));
  LATHE_TRY(const int cores, cores_of(command.program));
  LATHE_TRY(RecordStore records, RecordStore::open(command.records));
  LATHE_TRY(Measurer measurer, start_measurer(cores));
  TuneBudget budget = budget_of(command, target, cores);
  return Session{std::move(target), cores, std::move(records), std::move(measurer), std::move(budget)};
}

std::string state_text(const TuneState& state) {
  const TuneProgress& progress = state.progress;
  const std::string best = progress.best_seconds > 0
                               ? fmt::format("best {:.3f} us", progress.best_seconds * 1e6)
                               : "no program yet";
  if (state.is_concluding) return fmt::format("{}: the best programs once more, {}", state.name, best);
  return fmt::format("{}: {} trials, {} failed, {}", state.name, progress.trials, progress.failed, best);
}

TuneObserver observer_on(ProgressLine& line) {
  return [&line](const TuneState& state) { line.show(state.index + 1, state.count, state_text(state)); };
}

TuneOptions search_options(const TuneCommand& command, int cores) {
  TuneOptions search = command.search;
  search.overlap = static_cast<int>(allowed_cpus().size()) > cores;
  return search;
}

// The winners among the rows have been compared; what else is compiled is now.
CompileModelOptions compile_options(const std::vector<ReportRow>& rows, const TuneCommand& command,
                                    Session& session) {
  CompileModelOptions compiling{session.target, session.cores, &session.records, &session.measurer};
  compiling.tolerance = command.search.tolerance;
  for (const ReportRow& row : rows) {
    if (row.result.winner) compiling.confirmed.insert(row.result.winner->record);
  }
  compiling.rejected = report_rejected;
  compiling.free_layouts = command.layout == "free" ? FreeLayouts::first : FreeLayouts::last;
  return compiling;
}

ReportRow row_of(const CaseResult& result, const TuneCommand& command, const Session& session) {
  ReportRow row;
  row.result = result;
  row.cores = session.cores;
  row.target = session.target.name;
  row.strategy = command.search.strategy;
  return row;
}

std::string folder_of(const TuneCommand& command, const Workload& workload) {
  return command.out + "/" + workload.name;
}

// The folders that artifacts will be written to.
std::vector<std::string> folders_of(const TuneCommand& command, const std::vector<Workload>& workloads) {
  std::vector<std::string> folders;
  if (command.out.empty()) return folders;
  if (workloads.empty()) folders.push_back(command.out);
  for (const Workload& workload : workloads) folders.push_back(folder_of(command, workload));
  return folders;
}

Result<std::vector<ReportRow>> tune_workloads(const TuneCommand& command,
                                              const std::vector<Workload>& workloads, Session& session) {
  std::vector<Task> tasks;
  for (const Workload& workload : workloads) {
    LATHE_TRY(Task task, make_task(workload, session.target, session.cores, command.layout == "free"));
    tasks.push_back(std::move(task));
  }
  ProgressLine line;
  hold_interrupts();
  LATHE_TRY(const std::vector<CaseResult> results,
            tune_cases(tasks, search_options(command, session.cores), session.budget, session.measurer,
                       session.records, observer_on(line)));
  release_interrupts();
  line.finish();
  std::vector<ReportRow> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    rows.push_back(row_of(results[i], command, session));
    rows.back().op = workloads[i].op;
    rows.back().flops = workloads[i].operation.flops;
    rows.back().bytes = bytes_of(tasks[i].dag);
    rows.back().layout = command.layout;
  }
  return rows;
}

Result<Network> network_of(const TuneCommand& command, const Session& session) {
  LATHE_TRY(const OnnxImportOptions import, import_options(command.program));
  return load_network(command.program.model, import, session.target, session.cores);
}

Result<std::vector<ReportRow>> tune_network(const TuneCommand& command, const Network& network,
                                            Session& session) {
  const std::vector<WeightedTask>& tasks = network.tasks.tasks;
  ProgressLine line;
  hold_interrupts();
  LATHE_TRY(const std::vector<CaseResult> results,
            tune_network_tasks(tasks, command.scheduler, search_options(command, session.cores),
                               session.budget, session.measurer, session.records, observer_on(line)));
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

Status write(const Result<Model>& model, const std::string& folder) {
  if (!model) return std::unexpected(model.error());
  if (const auto note = uncompared_note(*model)) report_rejected(*note);
  return write_model(*model, folder);
}

// Of the operators that a program was found for; one that fails keeps none of the others from being written.
Status write_operators(const std::vector<Workload>& workloads, const std::vector<ReportRow>& rows,
                       const TuneCommand& command, Session& session) {
  Status all;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].result.progress.best_seconds == 0) continue;
    all = joined(all, write(compile_operator(workloads[i], compile_options(rows, command, session)),
                            folder_of(command, workloads[i])));
  }
  return all;
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
  LATHE_TRY_STATUS(check(command.program));
  LATHE_TRY_STATUS(check_task_scheduler(command.scheduler));
  note_idle_options(command, options);
  const bool is_network = !command.program.model.empty();
  std::vector<Workload> workloads;
  if (!is_network) {
    LATHE_TRY(workloads, select_workloads(command.program.workload, command.program.filter));
  }
  const std::vector<std::string> folders = folders_of(command, workloads);
  LATHE_TRY_STATUS(check_files_apart(command, folders));
  LATHE_TRY_STATUS(check_outputs(folders, command.json));
  if (!command.out.empty()) LATHE_TRY_STATUS(check_compiler());
  LATHE_TRY(Session session, start(command));
  std::optional<Network> network;
  if (is_network) {
    LATHE_TRY(network, network_of(command, session));
  }
  LATHE_TRY(const std::vector<ReportRow> rows,
            network ? tune_network(command, *network, session) : tune_workloads(command, workloads, session));
  print_report(rows);
  if (const char* signal = noted_interrupt()) {
    report_stop(signal, command.records);
    return {};
  }
  report_enough(rows);
  warn_of_noise(rows);
  warn_of_untuned(rows);
  // The report may lie in a folder of the artifacts.
  Status written;
  if (network && !command.out.empty())
    written = write(compile_network(*network, compile_options(rows, command, session)), command.out);
  if (!network && !command.out.empty()) written = write_operators(workloads, rows, command, session);
  if (!command.json.empty()) written = joined(written, write_report(rows, command.json));
  return joined(written, check_all_found(rows));
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
  options.number("--time", command->seconds, "seconds for the whole command", {0, 1e9});
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
  options.text("--strategy", command->search.strategy, "who to try next", {.shows_default = true});
  options.text("--cost-model", command->search.cost_model, "what ranks candidates", {.shows_default = true});
  options.text("--scheduler", command->scheduler, "how a network's tasks share the trials",
               {.shows_default = true});
  options.text("--layout", command->layout, "of activations in operators: free or fixed",
               {.shows_default = true, .one_of = {"free", "fixed"}});
  options.number(
      "--tolerance", command->search.tolerance,
      "largest difference from the reference, as a share of its magnitude; default: by the type, the "
      "reduction's length and the algorithm",
      {0, 1});
  options.text("--records", command->records, "the records file", {.shows_default = true});
  options.text("--json", command->json, "write the results there, at the end");
  options.text("--out", command->out, "write artifacts there, when all tuning is done");
  options.action(chosen, [command, options] { return run(*command, options); });
}

}  // namespace lathe::cli
