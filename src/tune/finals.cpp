#include "tune/finals.h"

#include <set>
#include <utility>

#include "base/memory.h"
#include "measure/timing.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

constexpr int kRaceTurns = 5;
// So many records may race later than the others.
constexpr int kMostUpstarts = 4;

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

// Races those records' programs and gives their ids.
Result<std::vector<int64_t>> race_once(const CheckedTask& checked, std::span<const RankedRecord> finalists,
                                       Evaluator& evaluator, RecordStore& records, const Watch& watch) {
  LATHE_TRY(std::vector<Racer> racers, racers_of(checked, finalists, records, watch));
  const Status run = within_memory([&] { return run_race(racers, evaluator, watch); });
  std::vector<int64_t> ids;
  for (const Racer& racer : racers) {
    const Status kept = records.add_samples(racer.id, racer.samples);
    if (!is_gone(kept)) LATHE_TRY_STATUS(kept);
    ids.push_back(racer.id);
  }
  if (!run && run.error().kind != ErrorKind::unsupported) return std::unexpected(run.error());
  return ids;
}

// The best record where that did not race, then the best that did; nothing where the best did.
std::vector<RankedRecord> upstart_of(std::span<const Record> settled, MeasureSource source,
                                     const std::set<int64_t>& raced) {
  const Record* best = nullptr;
  const Record* best_raced = nullptr;
  const auto take = [](const Record*& place, const Record& record) {
    if (place == nullptr || record.measurement.seconds < place->measurement.seconds) place = &record;
  };
  for (const Record& record : settled) {
    if (!record.measurement.ok() || record.measurement.source != source) continue;
    take(best, record);
    if (raced.contains(record.id)) take(best_raced, record);
  }
  if (best == best_raced || best_raced == nullptr) return {};
  return {{best->measurement.seconds, best->id}, {best_raced->measurement.seconds, best_raced->id}};
}

Result<FullCheck> check_of(const CheckedTask& checked, const Record& record, Evaluator& evaluator,
                           const Watch& watch) {
  FullCheck check;
  if (watch.is_over()) {
    check.unfinished = kNoTimeLeft;
    return check;
  }
  const Result<MeasureJob> job = job_of(checked, record);
  if (job) {
    Result<FullCheck> done = within_memory([&] { return evaluator.check_in_full(*job, watch); });
    if (done || done.error().kind != ErrorKind::unsupported) return done;
    check.unfinished = done.error().message;
    return check;
  }
  check.failure = MeasureFailure{job.error().kind, job.error().to_string()};
  return check;
}

}  // namespace

Status race(const CheckedTask& checked, std::span<const RankedRecord> finalists, Evaluator& evaluator,
            RecordStore& records, const Watch& watch) {
  LATHE_TRY(const std::vector<int64_t> first, race_once(checked, finalists, evaluator, records, watch));
  std::set<int64_t> raced(first.begin(), first.end());
  for (int more = 0; more < kMostUpstarts && !watch.is_over(); ++more) {
    LATHE_TRY(const std::vector<Record> settled, settled_records(*checked.task, records, checked.tolerance));
    const std::vector<RankedRecord> pair = upstart_of(settled, evaluator.source(), raced);
    if (pair.empty()) return {};
    LATHE_TRY_STATUS(race_once(checked, pair, evaluator, records, watch));
    raced.insert(pair.front().id);
  }
  return {};
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
