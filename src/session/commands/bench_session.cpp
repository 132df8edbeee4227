#include "session/commands/bench_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "artifact/replay.h"
#include "measure/measurer.h"
#include "measure/timing.h"
#include "records/within.h"
#include "session/commands/bench_peers.h"
#include "session/load_source.h"
#include "session/open_records.h"
#include "session/start_measurer.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

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

// Tells which records are better but do not apply any more.
Result<std::optional<Record>> best_applying(const Task& task, const RecordStore& records,
                                            const Teller& rejected) {
  std::vector<int64_t> except;
  for (;;) {
    LATHE_TRY(std::optional<Record> best, best_record_of(task, records, except));
    if (!best) return best;
    LATHE_TRY(const Task recorded, within(records.path(), replayed_task(*best)));
    const Result<Program> program = within(records.path(), replayed_program(*best, recorded));
    if (program) return best;
    tell(rejected, fmt::format("{}: the best record is not used, {}: {}", task.name,
                               to_string(program.error().kind), program.error().to_string()));
    except.push_back(best->id);
  }
}

// What the operator was tuned as.
struct Tuned {
  const Target& target;
  bool exact_specials = false;
};

Result<BestRecord> best_of(const Workload& workload, const Tuned& tuned, const RecordStore& records,
                           const Teller& rejected) {
  BestRecord best;
  for (const char* layout : {"free", "fixed"}) {
    LATHE_TRY(const Task task,
              task_of(workload, tuned.target, layout == std::string_view("free"), tuned.exact_specials));
    LATHE_TRY(const std::vector<Record> tried, records.find(records_of(task)));
    LATHE_TRY(const std::optional<Record> record, best_applying(task, records, rejected));
    const BestRecord found{record, static_cast<int64_t>(tried.size()), count_failures(tried), layout};
    if (is_better(found, best, tuned.target)) best = found;
  }
  return best;
}

CaseReport row_of(const Workload& workload, const BestRecord& best, const Target& target) {
  CaseReport row;
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

Result<BenchCase> case_of(Workload workload, Tuned tuned, const RecordStore& records,
                          const Teller& rejected) {
  BenchCase bench_case;
  LATHE_TRY(bench_case.best, best_of(workload, tuned, records, rejected));
  if (!bench_case.best.record) {
    tuned.exact_specials = !tuned.exact_specials;
    // Not every operator has programs that keep them apart.
    const Result<BestRecord> other = best_of(workload, tuned, records, rejected);
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
Status check_all_measured(const std::vector<BenchCase>& cases, const std::vector<CaseReport>& rows,
                          const BenchRequest& request) {
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
                request.records);
  }
  if (unknown.empty()) return {};
  return fail(ErrorKind::not_found,
              fmt::format("there is no program on {} and {} core{} for {}{}", rows.front().target,
                          rows.front().cores, rows.front().cores == 1 ? "" : "s", unknown,
                          !is_known_otherwise             ? ""
                          : request.source.exact_specials ? ", but there is without --exact-specials"
                                                          : ", but there is with --exact-specials"),
              request.records);
}

// A case and its peers, one after the other, some turns long.
Status measure_turns(BenchCase& bench_case, const std::string& file, std::optional<PeersOfCase>& peers,
                     Measurer& measurer, CaseReport& row) {
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
Status measure_rounds(std::vector<BenchCase>& cases, const BenchRequest& request,
                      const BenchListener& listener, const Target& target, std::span<const Peer> peers,
                      Measurer& measurer, std::vector<CaseReport>& rows) {
  for (int round = 0; round < request.rounds; ++round) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (listener.turn)
        listener.turn(round * rows.size() + i + 1, request.rounds * rows.size(), rows[i].result.name);
      if (!cases[i].best.record) continue;
      std::optional<PeersOfCase> opened;
      if (!peers.empty()) {
        LATHE_TRY(opened, PeersOfCase::open(peers, cases[i].workload, target, measurer.cpus()));
      }
      LATHE_TRY_STATUS(measure_turns(cases[i], request.records, opened, measurer, rows[i]));
    }
  }
  return {};
}

}  // namespace

Result<BenchOutcome> bench(const BenchRequest& request, const BenchListener& listener) {
  BenchOutcome outcome;
  LATHE_TRY(const RecordStore records, open_records_to_read(request.records, listener.note));
  LATHE_TRY(std::vector<Workload> workloads, load_workloads(request.source));
  LATHE_TRY(Measurer measurer, start_measurer(request.worker, cores_of(request.target)));
  std::vector<Peer> peers;
  if (!request.peers_folder.empty()) {
    LATHE_TRY(peers, start_peers(request.peers_folder, measurer.cpus()));
    if (listener.peers) listener.peers(peers);
  }
  std::vector<BenchCase> cases;
  std::vector<CaseReport>& rows = outcome.rows;
  for (Workload& workload : workloads) {
    LATHE_TRY(BenchCase bench_case,
              case_of(std::move(workload), {request.target, request.source.exact_specials}, records,
                      listener.rejected));
    rows.push_back(row_of(bench_case.workload, bench_case.best, request.target));
    rows.back().peers = empty_figures(peers);
    cases.push_back(std::move(bench_case));
  }
  LATHE_TRY_STATUS(measure_rounds(cases, request, listener, request.target, peers, measurer, rows));
  outcome.all_measured = check_all_measured(cases, rows, request);
  return outcome;
}

}  // namespace lathe
