#include "session/commands/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/compiler_version.h"
#include "base/write_file.h"
#include "evaluate/local_evaluator.h"
#include "experiment/measured_table.h"
#include "search/strategies/enumeration.h"
#include "session/commands/check_apart.h"
#include "session/commands/check_destinations.h"
#include "session/load_source.h"
#include "session/open_records.h"
#include "session/start_measurer.h"
#include "space/all.h"
#include "space/thinned_space.h"
#include "target/detect.h"
#include "tune/finals.h"
#include "tune/task_records.h"
#include "tune/task_tuner.h"

namespace lathe {
namespace {

// So many of the best are measured again in turns: the best of thousands of times is the luckiest, not the
// fastest. In groups, since a race takes about a second.
constexpr size_t kRaced = 128;
constexpr size_t kRacedTogether = 8;
constexpr int kBatch = 64;

// The task, its space and the points of the table.
struct TableTask {
  Task task;  // in the names of the records
  std::string name;
  Space space;
  ThinnedSpace thinned;
  std::vector<Point> points;
};

Result<TableTask> table_task(const RecordTableRequest& request, const Target& target, RecordStore& records) {
  LATHE_TRY(const std::vector<Workload> workloads, load_workloads(request.source));
  if (workloads.size() != 1)
    return fail(ErrorKind::invalid_argument,
                fmt::format("a table is of one operator, and {} match", workloads.size()), "--filter");
  LATHE_TRY(const Task asked,
            task_of(workloads.front(), target, request.layouts_are_free, request.source.exact_specials));
  LATHE_TRY(Task task, make_known(asked, records));
  LATHE_TRY(Space space, derive_space(task, request.space));
  ThinnedSpace thinned = thin(space, request.points);
  std::vector<Point> points = whole_points(space, thinned);
  return TableTask{std::move(task), workloads.front().name, std::move(space), std::move(thinned),
                   std::move(points)};
}

// What the records say of a program, by its trace.
Result<std::map<std::string, Measurement>> measured_traces(const Task& task, const RecordStore& records) {
  LATHE_TRY(const std::vector<Record> known, settled_records(task, records, {}));
  std::map<std::string, Measurement> measured;
  for (const Record& record : known) {
    if (record.measurement.source == MeasureSource::measured)
      measured.insert_or_assign(record.trace, record.measurement);
  }
  return measured;
}

TableEntry entry_of(const Measurement& measurement) {
  if (!measurement.ok()) return {TableEntry::Outcome::failed};
  return {TableEntry::Outcome::measured, measurement.seconds, measurement.spread};
}

// The entries of all points; those that are not recorded yet have none.
struct Entries {
  std::vector<TableEntry> entries;
  TableProgress progress;
};

Result<Entries> entries_of(const TableTask& ground, const RecordStore& records) {
  LATHE_TRY(const auto measured, measured_traces(ground.task, records));
  Entries all;
  all.progress.points = std::ssize(ground.points);
  for (const Point& point : ground.points) {
    const Result<Trace> trace = ground.space.trace(point);
    const auto known = trace ? measured.find(to_string(*trace)) : measured.end();
    TableEntry entry;
    if (known != measured.end()) entry = entry_of(known->second);
    if (!trace || known != measured.end()) ++all.progress.recorded;
    if (!trace) ++all.progress.illegal;
    if (entry.outcome == TableEntry::Outcome::failed) ++all.progress.failed;
    if (entry.outcome == TableEntry::Outcome::measured &&
        (all.progress.best_seconds == 0 || entry.seconds < all.progress.best_seconds))
      all.progress.best_seconds = entry.seconds;
    all.entries.push_back(entry);
  }
  return all;
}

TuneOptions options_of(const RecordTableRequest& request, const TableTask& ground) {
  TuneOptions options;
  options.space = request.space;
  options.strategy = "table";
  options.cost_model = "none";
  options.batch = kBatch;
  options.strategy_factory = [&ground](SearchSpace space, uint64_t) -> Result<std::unique_ptr<Strategy>> {
    return std::make_unique<Enumeration>(std::move(space), ground.points);
  };
  return options;
}

// Points that had no record before, until the watch is over; true where none is left.
Result<bool> measure_points(TaskTuner& tuner, const Watch& watch, TableProgress progress,
                            const RecordTableListener& listener) {
  const int64_t before = tuner.progress().trials;
  const int64_t recorded = progress.recorded;
  while (!tuner.progress().used_up) {
    if (watch.is_over()) return false;
    LATHE_TRY_STATUS(tuner.step(kBatch, watch));
    progress.recorded = std::min(progress.points, recorded + tuner.progress().trials - before);
    progress.failed = tuner.progress().failed;
    progress.best_seconds = tuner.progress().best_seconds;
    if (listener.progress) listener.progress(progress);
  }
  return !watch.is_over();
}

Result<bool> race_best(const TaskTuner& tuner, Evaluator& evaluator, RecordStore& records,
                       const Watch& watch) {
  const std::vector<RankedRecord> best = tuner.finalists(kRaced);
  for (size_t first = 0; first < best.size(); first += kRacedTogether) {
    if (watch.is_over()) return false;
    const size_t count = std::min(kRacedTogether, best.size() - first);
    LATHE_TRY_STATUS(race(tuner.checked(), std::span(best).subspan(first, count), evaluator, records, watch));
  }
  return !watch.is_over();
}

MeasuredTable table_of(const RecordTableRequest& request, const TableTask& ground,
                       std::vector<TableEntry> entries) {
  MeasuredTable table{.name = fmt::format("{} {}", ground.name, request.space),
                      .task = text_of(ground.task),
                      .target = print(ground.task.target),
                      .machine = ground.task.target.machine,
                      .cores = cores_of(ground.task.target),
                      .compiler_version = compiler_version(),
                      .space = request.space,
                      .sketches = {},
                      .entries = std::move(entries)};
  for (size_t s = 0; s < ground.space.sketches().size(); ++s)
    table.sketches.push_back({ground.space.sketches()[s].name, ground.thinned.sketches[s].domain,
                              ground.thinned.sketches[s].fixed});
  return table;
}

}  // namespace

Result<RecordedTable> record_table(const RecordTableRequest& request, const RecordTableListener& listener) {
  Watch watch{request.seconds ? Deadline::in(*request.seconds) : Deadline(), listener.stop, {}};
  LATHE_TRY_STATUS(check_source(request.source));
  LATHE_TRY_STATUS(check_apart({"--out", request.out}, files_read(request.source, request.records)));
  LATHE_TRY_STATUS(check_destinations({}, request.out));
  LATHE_TRY(const Target target, target_here(request.source));
  LATHE_TRY(RecordStore records, open_records(request.records, listener.note));
  LATHE_TRY(Measurer measurer, start_measurer(request.worker, cores_of(target)));
  LATHE_TRY(const TableTask ground, table_task(request, target, records));
  LATHE_TRY(Entries all, entries_of(ground, records));
  LocalEvaluator evaluator(measurer, {.overlap = static_cast<int>(allowed_cpus().size()) > cores_of(target)});
  Result<TaskTuner> made =
      TaskTuner::create(ground.task, options_of(request, ground), evaluator, records, watch);
  if (!made && watch.is_over()) return RecordedTable{all.progress, false};
  LATHE_TRY(TaskTuner tuner, std::move(made));
  LATHE_TRY(bool is_whole, measure_points(tuner, watch, all.progress, listener));
  if (is_whole) {
    LATHE_TRY(is_whole, race_best(tuner, evaluator, records, watch));
  }
  LATHE_TRY(all, entries_of(ground, records));
  RecordedTable recorded{all.progress, is_whole && all.progress.recorded == all.progress.points};
  if (!recorded.is_written) return recorded;
  LATHE_TRY_STATUS(write_file(request.out, {table_bytes(table_of(request, ground, std::move(all.entries)))}));
  return recorded;
}

}  // namespace lathe
