#include "tune/finals.h"

#include <utility>

#include "measure/timing.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

constexpr int kRaceTurns = 5;

// Whether somebody else, who prunes the file, took the record out of it.
template <class T>
bool is_gone(const Result<T>& result) {
  return !result && result.error().kind == ErrorKind::not_found;
}

Result<MeasureJob> job_of(const CheckedTask& checked, const Record& record) {
  LATHE_TRY(Trace trace, parse_trace(record.trace));
  LATHE_TRY(auto program, write_program(*checked.task, std::move(trace)));
  return MeasureJob{checked, std::move(program)};
}

// A program in a race, and what its runs took in all of its turns.
struct Racer {
  int64_t id = 0;
  MeasureJob job;
  std::vector<double> samples = {};
};

// Those that are still there and still legal: confirm_best tells of others, should it come to them.
Result<std::vector<Racer>> racers_of(const CheckedTask& checked, std::span<const RankedRecord> finalists,
                                     const RecordStore& records, const Watch& watch) {
  std::vector<Racer> racers;
  for (const RankedRecord& finalist : finalists) {
    if (watch.is_over()) break;
    const Result<Record> record = records.by_id(finalist.id);
    if (is_gone(record)) continue;
    if (!record) return std::unexpected(record.error());
    if (Result<MeasureJob> job = job_of(checked, *record)) racers.push_back({record->id, std::move(*job)});
  }
  return racers;
}

// Once the time is up those that had no turn yet, the slowest of them, get none.
Status run_race(std::vector<Racer>& racers, Evaluator& evaluator, const Watch& watch) {
  const double start = monotonic_seconds();
  const int turns = racers.size() > 1 ? kRaceTurns : 1;
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < racers.size(); ++i) {
      if (watch.is_over()) return {};
      const bool must = turn == 0 && i < 2;
      if (!must && monotonic_seconds() - start > kRaceSeconds && (turn == 0 || i == 0)) return {};
      LATHE_TRY(const std::vector<Evaluated> now, evaluator.evaluate({&racers[i].job, 1}, watch));
      if (now.empty() || !now.front().measurement.ok()) continue;
      const std::vector<double>& samples = now.front().measurement.samples;
      racers[i].samples.insert(racers[i].samples.end(), samples.begin(), samples.end());
    }
  }
  return {};
}

Result<FullCheck> check_of(const CheckedTask& checked, const Record& record, Evaluator& evaluator,
                           const Watch& watch) {
  FullCheck check;
  if (watch.is_over()) {
    check.unfinished = kNoTimeLeft;
    return check;
  }
  const Result<MeasureJob> job = job_of(checked, record);
  if (job) return evaluator.check_in_full(*job, watch);
  check.failure = MeasureFailure{job.error().kind, job.error().to_string()};
  return check;
}

}  // namespace

Status race(const CheckedTask& checked, std::span<const RankedRecord> finalists, Evaluator& evaluator,
            RecordStore& records, const Watch& watch) {
  LATHE_TRY(std::vector<Racer> racers, racers_of(checked, finalists, records, watch));
  const Status run = run_race(racers, evaluator, watch);
  for (const Racer& racer : racers) {
    const Status kept = records.add_samples(racer.id, racer.samples);
    if (!is_gone(kept)) LATHE_TRY_STATUS(kept);
  }
  return run;
}

Result<Confirmation> confirm_best(const CheckedTask& checked, Evaluator& evaluator, RecordStore& records,
                                  const Watch& watch) {
  Confirmation confirmation;
  for (;;) {
    LATHE_TRY(const std::optional<Record> best,
              best_settled_record(*checked.task, records, checked.tolerance));
    confirmation.seconds = best ? best->measurement.seconds : 0;
    confirmation.spread = best ? best->measurement.spread : 0;
    if (!best) return confirmation;
    LATHE_TRY(const FullCheck check, check_of(checked, *best, evaluator, watch));
    if (check.unfinished || !check.failure) {
      confirmation.winner = check.unfinished ? Winner{best->id, 0, 0, check.unfinished}
                                             : Winner{best->id, check.largest_difference, check.tolerance};
      return confirmation;
    }
    const bool is_compared = check.failure->kind == ErrorKind::wrong_result;
    const Status marked = records.mark_failed(best->id, *check.failure,
                                              is_compared ? std::optional(check.tolerance) : std::nullopt);
    if (is_gone(marked)) continue;
    LATHE_TRY_STATUS(marked);
    ++confirmation.failed;
  }
}

}  // namespace lathe
