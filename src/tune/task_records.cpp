#include "tune/task_records.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/compiler_version.h"
#include "check/problem.h"
#include "check/tolerance.h"
#include "expr/print.h"
#include "records/within.h"
#include "task/task_text.h"

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
  LATHE_TRY(Task renamed, task_of(known, task.target));
  renamed.name = task.name;
  return renamed;
}

}  // namespace

RecordQuery records_of(const Task& task) {
  RecordQuery query;
  query.task_hash = hash_of(task);
  query.target = task.target.name;
  query.machine = task.target.machine;
  query.cores = cores_of(task.target);
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
  LATHE_TRY(const std::optional<TaskText> known, records.task(text_of(task)));
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

std::vector<FailureCount> count_failures(const std::vector<Record>& records) {
  std::vector<FailureCount> counts;
  for (const Record& record : records) {
    const std::optional<MeasureFailure>& failure = record.measurement.failure;
    if (!failure) continue;
    const auto known = std::ranges::find_if(
        counts, [&](const FailureCount& count) { return count.first.kind == failure->kind; });
    if (known == counts.end()) {
      counts.push_back({*failure, 1});
    } else {
      ++known->count;
    }
  }
  std::ranges::stable_sort(counts, std::greater(), &FailureCount::count);
  return counts;
}

Record blank_record(const Task& task, std::string strategy, uint64_t seed) {
  Record record;
  record.task = text_of(task);
  record.target = task.target.name;
  record.machine = task.target.machine;
  record.cores = cores_of(task.target);
  record.compiler_version = compiler_version();
  record.strategy = std::move(strategy);
  record.seed = seed;
  return record;
}

int64_t unix_milliseconds() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace lathe
