#include "tune/task_records.h"

#include <algorithm>
#include <map>

#include "expr/print.h"
#include "records/task_text.h"
#include "records/within.h"
#include "tune/compiler_version.h"
#include "tune/problem.h"

namespace lathe {
namespace {

// Whether the record's outcome holds by this tolerance: what was wrong by a stricter one may be right, and
// what was right by a looser one wrong.
bool is_settled(const Record& record, const Dag& dag, std::optional<double> tolerance) {
  const std::optional<MeasureFailure>& failure = record.measurement.failure;
  if (!record.tolerance || (failure && failure->kind != ErrorKind::wrong_result)) return true;
  if (!tolerance) {
    const Result<Trace> trace = parse_trace(record.trace);
    if (!trace) return true;
    tolerance = relative_tolerance(dag, *trace);
  }
  return failure ? *record.tolerance >= *tolerance : *record.tolerance <= *tolerance;
}

Result<Task> in_names_of(const TaskText& known, const Task& task) {
  if (known.dag == to_string(task.dag)) return task;
  LATHE_TRY(Task renamed, task_of(known, task.target, task.cores));
  renamed.name = task.name;
  return renamed;
}

}  // namespace

RecordQuery records_of(const Task& task) {
  RecordQuery query;
  query.task_hash = hash_of(task);
  query.target = task.target.name;
  query.machine = task.target.machine;
  query.cores = task.cores;
  query.compiler_version = compiler_version();
  return query;
}

Result<std::optional<Record>> best_record_of(const Task& task, const RecordStore& records,
                                             std::span<const int64_t> except) {
  RecordQuery query = records_of(task);
  query.except = {except.begin(), except.end()};
  LATHE_TRY(std::optional<Record> best, records.best(query));
  if (best) return best;
  query.machine.reset();
  return records.best(query);
}

Result<Task> in_recorded_names(const Task& task, const RecordStore& records) {
  LATHE_TRY(const std::optional<TaskText> known, records.task(hash_of(task)));
  return known ? within(records.path(), in_names_of(*known, task)) : task;
}

Result<Task> make_known(const Task& task, RecordStore& records) {
  LATHE_TRY(const TaskText known, records.known_as(text_of(task)));
  return within(records.path(), in_names_of(known, task));
}

Result<std::vector<Record>> settled_records(const Task& task, const RecordStore& records,
                                            std::optional<double> tolerance) {
  LATHE_TRY(std::vector<Record> found, records.find(records_of(task)));
  std::erase_if(found, [&](const Record& record) { return !is_settled(record, task.dag, tolerance); });
  return found;
}

Result<std::optional<Record>> best_settled_record(const Task& task, const RecordStore& records,
                                                  std::optional<double> tolerance) {
  RecordQuery query = records_of(task);
  for (;;) {
    LATHE_TRY(std::optional<Record> best, records.best(query));
    if (!best || is_settled(*best, task.dag, tolerance)) return best;
    query.except.push_back(best->id);
  }
}

std::optional<MeasureFailure> usual_failure(const std::vector<Record>& records) {
  std::map<ErrorKind, int64_t> counts;
  for (const Record& record : records) {
    if (record.measurement.failure) ++counts[record.measurement.failure->kind];
  }
  if (counts.empty()) return std::nullopt;
  const ErrorKind usual = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->first;
  const auto first = std::ranges::find_if(records, [&](const Record& record) {
    return record.measurement.failure && record.measurement.failure->kind == usual;
  });
  return first->measurement.failure;
}

}  // namespace lathe
