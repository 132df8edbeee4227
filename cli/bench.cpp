// lathe bench: what the best recorded programs of operators take now, on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "artifact/replay.h"
#include "cli/bench_peers.h"
#include "cli/command.h"
#include "cli/measuring.h"
#include "cli/open_records.h"
#include "cli/progress.h"
#include "cli/tune_report.h"
#include "cli/write_model.h"
#include "measure/timing.h"
#include "records/within.h"
#include "tune/exact_specials.h"
#include "tune/select_workloads.h"
#include "tune/task_records.h"

namespace lathe::cli {
namespace {

struct BenchCommand {
  ProgramOptions program;
  std::string records = "./lathe.db";
  std::string json;
  int rounds = 3;
  bool with_peers = false;
};

// A case's best record if there is any, with which layouts of the activations it was found, and how many were
// tried with those.
struct BestRecord {
  std::optional<Record> record;
  int64_t trials = 0;
  std::vector<FailureCount> failures = {};
  std::string layout = "free";
};

// This processor's records go first: times of two processors do not compare.
bool is_better(const BestRecord& found, const BestRecord& best, const Target& target) {
  if (!found.record || !best.record) return found.record || (!best.record && found.trials > best.trials);
  const bool is_ours = found.record->machine == target.machine;
  if (is_ours != (best.record->machine == target.machine)) return is_ours;
  return found.record->measurement.seconds < best.record->measurement.seconds;
}

// Says on stderr which records are better but do not apply any more.
Result<std::optional<Record>> best_applying(const Task& task, const RecordStore& records) {
  std::vector<int64_t> except;
  for (;;) {
    LATHE_TRY(std::optional<Record> best, best_record_of(task, records, except));
    if (!best) return best;
    LATHE_TRY(const Task recorded, within(records.path(), replayed_task(*best)));
    const Result<Program> program = within(records.path(), replayed_program(*best, recorded));
    if (program) return best;
    report_rejected(fmt::format("{}: the best record is not used, {}: {}", task.name,
                                to_string(program.error().kind), program.error().to_string()));
    except.push_back(best->id);
  }
}

// What the operator was tuned as.
struct Tuned {
  const Target& target;
  bool exact_specials = false;
};

Result<Task> tuned_task(const Workload& workload, const Tuned& tuned, bool is_free) {
  LATHE_TRY(Task task, make_task(workload, tuned.target, is_free));
  if (!tuned.exact_specials) return task;
  return within(workload.name, with_exact_specials(std::move(task)));
}

Result<BestRecord> best_of(const Workload& workload, const Tuned& tuned, const RecordStore& records) {
  BestRecord best;
  for (const char* layout : {"free", "fixed"}) {
    LATHE_TRY(const Task task, tuned_task(workload, tuned, layout == std::string_view("free")));
    LATHE_TRY(const std::vector<Record> tried, records.find(records_of(task)));
    LATHE_TRY(const std::optional<Record> record, best_applying(task, records));
    const BestRecord found{record, static_cast<int64_t>(tried.size()), count_failures(tried), layout};
    if (is_better(found, best, tuned.target)) best = found;
  }
  return best;
}

ReportRow row_of(const Workload& workload, const BestRecord& best, const Target& target) {
  ReportRow row;
  row.result.name = workload.name;
  row.op = workload.op;
  row.flops = workload.operation.flops;
  row.bytes = bytes_of(workload.operation.dag);
  row.cores = cores_of(target);
  row.target = target.name;
  row.layout = best.layout;
  row.result.progress.trials = best.trials;
  row.result.failures = best.failures;
  for (const FailureCount& failure : best.failures) row.result.progress.failed += failure.count;
  if (best.record) row.strategy = best.record->strategy;
  return row;
}

// A case and what is known of it.
struct BenchCase {
  Workload workload;
  BestRecord best;
  bool is_known_otherwise = false;  // none was found, but with --exact-specials there is one, or without
  std::optional<MeasureFailure> failure = {};  // why its program could not be measured, or was wrong
};

Result<BenchCase> case_of(Workload workload, Tuned tuned, const RecordStore& records) {
  BenchCase bench_case;
  LATHE_TRY(bench_case.best, best_of(workload, tuned, records));
  if (!bench_case.best.record) {
    tuned.exact_specials = !tuned.exact_specials;
    // Not every operator has programs that keep them apart.
    const Result<BestRecord> other = best_of(workload, tuned, records);
    bench_case.is_known_otherwise = other && other->record;
  }
  bench_case.workload = std::move(workload);
  return bench_case;
}

// How often in a round a case and its peers take turns.
constexpr int kTurns = 3;

// Compares all of what it computes, once.
Status check_winner(BenchCase& bench_case, ReplayedProgram& program, Measurer& measurer, CaseResult& result) {
  if (result.winner || bench_case.failure) return {};
  LATHE_TRY(const FullCheck check, program.check(measurer));
  bench_case.failure = check.failure;
  if (!check.failure)
    result.winner = Winner{bench_case.best.record->id, check.largest_difference, check.tolerance};
  return {};
}

// Measures once more and keeps the best: what disturbs a measurement makes it longer. Gives what it took now;
// 0 where it failed.
Result<double> measure_again(BenchCase& bench_case, ReplayedProgram& program, Measurer& measurer,
                             TuneProgress& progress) {
  if (bench_case.failure) return 0;
  LATHE_TRY(const Measurement now, program.measure(measurer));
  if (!now.ok()) {
    bench_case.failure = now.failure;
    return 0;
  }
  if (progress.best_seconds == 0 || now.seconds < progress.best_seconds) {
    progress.best_seconds = now.seconds;
    progress.best_spread = now.spread;
  }
  return now.seconds;
}

// An Error that names the cases of which nothing was measured or something was wrong.
Status check_all_measured(const std::vector<BenchCase>& cases, const std::vector<ReportRow>& rows,
                          const BenchCommand& command) {
  std::string unknown;
  std::string wrong;
  bool is_known_otherwise = false;
  for (const BenchCase& each : cases) {
    if (each.best.record && !each.failure) continue;
    is_known_otherwise = is_known_otherwise || each.is_known_otherwise;
    std::string& names = each.failure ? wrong : unknown;
    names += (names.empty() ? "" : ", ") + each.workload.name;
    if (each.failure) names += fmt::format(" ({}: {})", to_string(each.failure->kind), each.failure->message);
  }
  if (!wrong.empty()) {
    return fail(ErrorKind::wrong_result, fmt::format("the best program does not work any more for {}", wrong),
                command.records);
  }
  if (unknown.empty()) return {};
  return fail(ErrorKind::not_found,
              fmt::format("there is no program on {} and {} core{} for {}{}", rows.front().target,
                          rows.front().cores, rows.front().cores == 1 ? "" : "s", unknown,
                          !is_known_otherwise              ? ""
                          : command.program.exact_specials ? ", but there is without --exact-specials"
                                                           : ", but there is with --exact-specials"),
              command.records);
}

// A case and its peers, one after the other, some turns long.
Status measure_turns(BenchCase& bench_case, const std::string& file, std::optional<PeersOfCase>& peers,
                     Measurer& measurer, ReportRow& row) {
  const double start = monotonic_seconds();
  LATHE_TRY(ReplayedProgram program, within(file, ReplayedProgram::create(*bench_case.best.record)));
  LATHE_TRY_STATUS(check_winner(bench_case, program, measurer, row.result));
  row.result.wall_seconds += monotonic_seconds() - start;
  for (int turn = 0; turn < (peers ? kTurns : 1); ++turn) {
    const double begin = monotonic_seconds();
    LATHE_TRY(const double seconds, measure_again(bench_case, program, measurer, row.result.progress));
    row.result.wall_seconds += monotonic_seconds() - begin;
    if (peers && !bench_case.failure) measure_peers_again(*peers, seconds, row.peers);
  }
  return {};
}

// All cases in turns: a machine that is slow for a while is slow for all of them.
Status measure_rounds(std::vector<BenchCase>& cases, const BenchCommand& command, const Target& target,
                      std::span<const Peer> peers, Measurer& measurer, std::vector<ReportRow>& rows) {
  ProgressLine line;
  for (int round = 0; round < command.rounds; ++round) {
    for (size_t i = 0; i < rows.size(); ++i) {
      line.show(round * rows.size() + i + 1, command.rounds * rows.size(), rows[i].result.name);
      if (!cases[i].best.record) continue;
      std::optional<PeersOfCase> opened;
      if (!peers.empty()) {
        LATHE_TRY(opened, PeersOfCase::open(peers, cases[i].workload, target, measurer.cpus()));
      }
      LATHE_TRY_STATUS(measure_turns(cases[i], command.records, opened, measurer, rows[i]));
    }
  }
  return {};
}

Status run(const BenchCommand& command) {
  LATHE_TRY_STATUS(check_apart({"--json", command.json}, files_read(command.program, command.records)));
  LATHE_TRY(const Target target, target_here(command.program));
  if (command.with_peers) LATHE_TRY_STATUS(prepare_peers(target));
  LATHE_TRY(const RecordStore records, open_records_to_read(command.records));
  LATHE_TRY(std::vector<Workload> workloads,
            select_workloads(command.program.workload, command.program.filter));
  LATHE_TRY(Measurer measurer, start_measurer(cores_of(target)));
  std::vector<Peer> peers;
  if (command.with_peers) {
    LATHE_TRY(peers, start_peers(measurer.cpus()));
  }
  std::vector<BenchCase> cases;
  std::vector<ReportRow> rows;
  for (Workload& workload : workloads) {
    LATHE_TRY(BenchCase bench_case,
              case_of(std::move(workload), {target, command.program.exact_specials}, records));
    rows.push_back(row_of(bench_case.workload, bench_case.best, target));
    rows.back().peers = empty_figures(peers);
    cases.push_back(std::move(bench_case));
  }
  LATHE_TRY_STATUS(measure_rounds(cases, command, target, peers, measurer, rows));
  print_report(rows, target);
  report_left_out(rows);
  report_failures(rows);
  if (!command.json.empty()) LATHE_TRY_STATUS(write_report(rows, command.json));
  return check_all_measured(cases, rows, command);
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  OptionSet options = add_command(app, "bench", "measure the best recorded programs of operators again");
  const auto command = std::make_shared<BenchCommand>();
  options.text("--workload", command->program.workload, "a JSON file of operators", {.is_required = true});
  add_workload_options(options, command->program);
  options.text("--records", command->records, "the records file", {.shows_default = true});
  options.number("--rounds", command->rounds,
                 "how often each is measured, three times in turns with its peers", {1, 1000},
                 {.shows_default = true});
  options.flag("--peers", command->with_peers,
               "measure other libraries in turns with them: those whose plug-ins are in the folder peers/");
  options.text("--json", command->json, "write the results there");
  options.action(chosen, [command] { return run(*command); });
}

}  // namespace lathe::cli
