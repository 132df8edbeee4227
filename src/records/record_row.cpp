#include "records/record_row.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/abridged.h"
#include "base/hash.h"
#include "base/json.h"
#include "measure/statistics.h"

namespace lathe {

namespace {

constexpr int kTaskColumns = 8;
constexpr int64_t kMostCores = int64_t{1} << 20;
// Outside of these no program's time lies, and figures made of it would mean nothing.
constexpr double kLeastSeconds = 1e-12;
constexpr double kMostSeconds = 1e9;

// Where a row comes from: the file, and the record that it is, or that speaks for a task's.
struct Place {
  std::string path;
  std::optional<int64_t> record = {};
};

std::unexpected<Error> damaged(const Place& place, const char* column, const std::string& value) {
  const std::string record = place.record ? fmt::format(" in record {}", *place.record) : "";
  return fail(ErrorKind::database, fmt::format("the records file {} is damaged: its column {} holds '{}'{}",
                                               place.path, column, abridged(value), record));
}

// Names may hold any bytes; what is no UTF-8 is replaced.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string point_text(const Record& record) {
  return dump({{"sketch", record.sketch}, {"integers", record.integers}});
}

template <class Value>
Result<Value> json_as(const Statement& row, int column, const char* name, const Place& place) {
  const Result<nlohmann::json> json = parse_json(row.text(column), place.path);
  if (!json) return damaged(place, name, row.text(column));
  try {
    return json->get<Value>();
  } catch (const nlohmann::json::exception&) {
    return damaged(place, name, row.text(column));
  }
}

std::optional<ErrorKind> parse_error_kind(const std::string& name) {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::database); ++kind) {
    if (name == to_string(static_cast<ErrorKind>(kind))) return static_cast<ErrorKind>(kind);
  }
  return std::nullopt;
}

Result<uint64_t> parse_hash(const std::string& text, const Place& place) {
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size()) return damaged(place, "hash", text);
  return hash;
}

Result<int> cores_from(const Statement& row, int column, const Place& place) {
  const int64_t cores = row.integer(column);
  if (!row.is_integer(column) || cores < 1 || cores > kMostCores)
    return damaged(place, "cores", row.text(column));
  return static_cast<int>(cores);
}

Result<double> number_within(const Statement& row, int column, const char* name, double least, double most,
                             const Place& place) {
  const double value = row.real(column);
  if (!row.is_number(column) || !(value >= least && value <= most))
    return damaged(place, name, row.text(column));
  return value;
}

Result<double> seconds_from(const Statement& row, int column, const Place& place) {
  return number_within(row, column, "seconds", kLeastSeconds, kMostSeconds, place);
}

// The columns from `first`: source, samples, seconds, spread, timed_once, failure_kind, failure_message.
Result<Measurement> measurement_from_row(const Statement& row, int first, const Place& place) {
  Measurement measurement;
  const auto source = parse_measure_source(row.text(first));
  if (!source) return damaged(place, "source", row.text(first));
  measurement.source = *source;
  LATHE_TRY(measurement.samples, json_as<std::vector<double>>(row, first + 1, "samples", place));
  measurement.timed_once = row.integer(first + 4) != 0;
  if (!row.is_null(first + 5)) {
    const auto kind = parse_error_kind(row.text(first + 5));
    if (!kind) return damaged(place, "failure_kind", row.text(first + 5));
    measurement.failure = MeasureFailure{*kind, row.text(first + 6)};
    return measurement;
  }
  LATHE_TRY(measurement.seconds, seconds_from(row, first + 2, place));
  // It is made of the samples: one that does not follow from them would win or lose by damage.
  if (!measurement.samples.empty() &&
      !(std::abs(robust_centre(measurement.samples) - measurement.seconds) <= 1e-6 * measurement.seconds))
    return damaged(place, "seconds", row.text(first + 2));
  constexpr double kMost = std::numeric_limits<double>::max();
  LATHE_TRY(measurement.spread, number_within(row, first + 3, "spread", 0, kMost, place));
  return measurement;
}

// The first kTaskColumns of every row.
std::string task_columns(const LaterColumns& columns) {
  return fmt::format("hash, name, dag, constants, free_layouts, layouts, {}, {}", columns.runs_cold,
                     columns.algorithm);
}

}  // namespace

std::string select_record(const LaterColumns& columns) {
  return fmt::format(
      "SELECT {}, id, target, machine, cores, compiler_version, trace, point, source, samples, seconds, "
      "spread, timed_once, failure_kind, failure_message, strategy, seed, created_at, wall_seconds, {} FROM "
      "records JOIN tasks ON records.task = tasks.hash",
      task_columns(columns), columns.tolerance);
}

std::string select_task(const LaterColumns& columns) {
  return fmt::format("SELECT {} FROM tasks WHERE hash = ?", task_columns(columns));
}

// SQLite takes the bare columns seconds and id from the row that holds the least. No time at all is less than
// any, as where the best record is looked for, so that both find the same damage.
std::string select_summaries(const LaterColumns& columns) {
  return fmt::format(
      "SELECT {}, target, cores, count(*), sum(failure_kind IS NOT NULL), min(CASE WHEN failure_kind IS NULL "
      "THEN "
      "ifnull(seconds, 0) END), seconds, id FROM records JOIN tasks ON records.task = tasks.hash GROUP BY "
      "hash, target, cores ORDER BY tasks.rowid, target, cores",
      task_columns(columns));
}

void bind_task(Statement& statement, const TaskText& task) {
  statement.bind(hash_to_string(task.hash))
      .bind(task.name)
      .bind(task.dag)
      .bind(dump(task.constants))
      .bind(static_cast<int64_t>(task.free_layouts))
      .bind(dump(task.layouts))
      .bind(static_cast<int64_t>(task.runs_cold))
      .bind(task.algorithm);
}

void bind_time(Statement& statement, const Measurement& measurement) {
  statement.bind(dump(measurement.samples));
  if (measurement.ok()) {
    statement.bind(measurement.seconds).bind(measurement.spread);
  } else {
    statement.bind_null().bind_null();
  }
  statement.bind(static_cast<int64_t>(measurement.timed_once));
}

void bind_record(Statement& statement, const Record& record) {
  const Measurement& measurement = record.measurement;
  statement.bind(hash_to_string(record.task.hash))
      .bind(record.target)
      .bind(record.machine)
      .bind(static_cast<int64_t>(record.cores))
      .bind(record.compiler_version)
      .bind(record.trace)
      .bind(point_text(record))
      .bind(to_string(measurement.source));
  bind_time(statement, measurement);
  if (measurement.failure) {
    statement.bind(to_string(measurement.failure->kind)).bind(measurement.failure->message);
  } else {
    statement.bind_null().bind_null();
  }
  statement.bind(record.strategy)
      .bind(std::bit_cast<int64_t>(record.seed))
      .bind(record.created_at)
      .bind(record.wall_seconds)
      .bind(record.tolerance);
}

Result<TaskText> task_from_row(const Statement& row, const std::string& path) {
  TaskText task;
  const Place place{path};
  LATHE_TRY(task.hash, parse_hash(row.text(0), place));
  task.name = row.text(1);
  task.dag = row.text(2);
  LATHE_TRY(task.constants, json_as<std::vector<std::string>>(row, 3, "constants", place));
  task.free_layouts = row.integer(4) != 0;
  LATHE_TRY(task.layouts, json_as<std::vector<std::string>>(row, 5, "layouts", place));
  task.runs_cold = row.integer(6) != 0;
  task.algorithm = row.text(7);
  return task;
}

Result<Record> record_from_row(const Statement& row, const std::string& path) {
  Record record;
  LATHE_TRY(record.task, task_from_row(row, path));
  int column = kTaskColumns;
  record.id = row.integer(column++);
  const Place place{path, record.id};
  record.target = row.text(column++);
  record.machine = row.text(column++);
  LATHE_TRY(record.cores, cores_from(row, column++, place));
  record.compiler_version = row.text(column++);
  record.trace = row.text(column++);
  LATHE_TRY(const auto point, json_as<nlohmann::json::object_t>(row, column, "point", place));
  try {
    record.sketch = point.at("sketch").get<std::string>();
    record.integers = point.at("integers").get<std::vector<int64_t>>();
  } catch (const std::exception&) {
    return damaged(place, "point", row.text(column));
  }
  LATHE_TRY(record.measurement, measurement_from_row(row, column + 1, place));
  column += 8;
  record.strategy = row.text(column++);
  record.seed = std::bit_cast<uint64_t>(row.integer(column++));
  record.created_at = row.integer(column++);
  record.wall_seconds = row.real(column++);
  if (!row.is_null(column)) {
    record.tolerance = row.real(column);
    // By one beyond these every result would be right, or none.
    if (!(*record.tolerance >= 0 && *record.tolerance <= 1))
      return damaged(place, "tolerance", row.text(column));
  }
  return record;
}

Result<TaskSummary> summary_from_row(const Statement& row, const std::string& path) {
  TaskSummary summary;
  LATHE_TRY(summary.task, task_from_row(row, path));
  const Place place{path, row.integer(kTaskColumns + 6)};
  summary.target = row.text(kTaskColumns);
  LATHE_TRY(summary.cores, cores_from(row, kTaskColumns + 1, place));
  summary.trials = row.integer(kTaskColumns + 2);
  summary.failed = row.integer(kTaskColumns + 3);
  if (!row.is_null(kTaskColumns + 4)) {
    LATHE_TRY(summary.best_seconds, seconds_from(row, kTaskColumns + 5, place));
    summary.best_id = place.record;
  }
  return summary;
}

}  // namespace lathe
