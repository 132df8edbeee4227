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

constexpr int64_t kMostCores = int64_t{1} << 20;
// Outside of these no program's time lies, and figures made of it would mean nothing.
constexpr double kLeastSeconds = 1e-12;
constexpr double kMostSeconds = 1e9;

std::unexpected<Error> damaged(const char* column, const std::string& value) {
  return fail(ErrorKind::database,
              fmt::format("its column {} holds '{}'", column, printable(abridged(value))));
}

// Names may hold any bytes; what is no UTF-8 is replaced.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Value>
Result<Value> json_as(const Statement& row, int column, const char* name) {
  const Result<nlohmann::json> json = parse_json(row.text(column), name);
  if (!json) return damaged(name, row.text(column));
  try {
    return json->get<Value>();
  } catch (const nlohmann::json::exception&) {
    return damaged(name, row.text(column));
  }
}

Result<uint64_t> hash_from(const std::string& text) {
  const std::optional<uint64_t> hash = hash_from_string(text);
  return hash ? Result<uint64_t>(*hash) : damaged("hash", text);
}

Result<int> cores_from(const Statement& row, int column) {
  const int64_t cores = row.integer(column);
  if (!row.is_integer(column) || cores < 1 || cores > kMostCores) return damaged("cores", row.text(column));
  return static_cast<int>(cores);
}

Result<double> number_within(const Statement& row, int column, const char* name, double least, double most) {
  const double value = row.real(column);
  if (!row.is_number(column) || !(value >= least && value <= most)) return damaged(name, row.text(column));
  return value;
}

Result<double> seconds_from(const Statement& row, int column) {
  return number_within(row, column, "seconds", kLeastSeconds, kMostSeconds);
}

// Of text, which SQLite does not insist on.
Result<std::string> text_from(const Statement& row, int column, const char* name) {
  if (!row.is_text(column)) return damaged(name, row.text(column));
  return row.text(column);
}

Result<int64_t> integer_from(const Statement& row, int column, const char* name) {
  if (!row.is_integer(column)) return damaged(name, row.text(column));
  return row.integer(column);
}

// Each a time that some run took: what is none of them would lead the others astray.
Result<std::vector<double>> samples_from(const Statement& row, int column) {
  LATHE_TRY(std::vector<double> samples, json_as<std::vector<double>>(row, column, "samples"));
  for (const double sample : samples) {
    if (!(sample >= 0 && sample <= kMostSeconds)) return damaged("samples", row.text(column));
  }
  return samples;
}

// The columns from `first`: source, samples, seconds, spread, timed_once, failure_kind, failure_message.
Result<Measurement> measurement_from_row(const Statement& row, int first) {
  Measurement measurement;
  const auto source = parse_measure_source(row.text(first));
  if (!source) return damaged("source", row.text(first));
  measurement.source = *source;
  LATHE_TRY(measurement.samples, samples_from(row, first + 1));
  LATHE_TRY(const int64_t timed_once, integer_from(row, first + 4, "timed_once"));
  measurement.timed_once = timed_once != 0;
  if (!row.is_null(first + 5)) {
    const auto kind = parse_error_kind(row.text(first + 5));
    if (!kind) return damaged("failure_kind", row.text(first + 5));
    measurement.failure = MeasureFailure{*kind, row.text(first + 6)};
    return measurement;
  }
  LATHE_TRY(measurement.seconds, seconds_from(row, first + 2));
  if (measurement.source == MeasureSource::measured && measurement.samples.empty())
    return damaged("samples", row.text(first + 1));
  // It is made of the samples: one that does not follow from them would win or lose by damage.
  if (!measurement.samples.empty() &&
      !(std::abs(robust_centre(measurement.samples) - measurement.seconds) <= 1e-6 * measurement.seconds))
    return damaged("seconds", row.text(first + 2));
  constexpr double kMost = std::numeric_limits<double>::max();
  LATHE_TRY(measurement.spread, number_within(row, first + 3, "spread", 0, kMost));
  return measurement;
}

// The first columns of every row.
std::string task_columns(const LaterColumns& columns) {
  return fmt::format("hash, name, dag, constants, free_layouts, layouts, {}, {}, tasks.rowid",
                     columns.runs_cold, columns.algorithm);
}

// The others, in the order in which they are read.
std::string record_columns(const LaterColumns& columns) {
  return fmt::format(
      "task, id, target, machine, cores, compiler_version, trace, point, source, samples, seconds, spread, "
      "timed_once, failure_kind, failure_message, strategy, seed, created_at, wall_seconds, {}",
      columns.tolerance);
}

}  // namespace

std::string select_record(const LaterColumns& columns, std::string_view table) {
  return fmt::format("SELECT {}, {} FROM {} LEFT JOIN tasks ON task = tasks.hash", task_columns(columns),
                     record_columns(columns), table);
}

std::string select_task(const LaterColumns& columns) { return select_all_tasks(columns) + " WHERE hash = ?"; }

std::string select_all_tasks(const LaterColumns& columns) {
  return fmt::format("SELECT {} FROM tasks", task_columns(columns));
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
      .bind(print(record.point))
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

Result<Record> record_alone(const Statement& row) {
  Record record;
  int column = kIdOfRecord;
  record.id = row.integer(column++);
  LATHE_TRY(record.target, text_from(row, column++, "target"));
  LATHE_TRY(record.machine, text_from(row, column++, "machine"));
  LATHE_TRY(record.cores, cores_from(row, column++));
  LATHE_TRY(record.compiler_version, text_from(row, column++, "compiler_version"));
  LATHE_TRY(record.trace, text_from(row, column++, "trace"));
  Result<RecordedPoint> point = parse_point(row.text(column));
  if (!point) return damaged("point", row.text(column));
  record.point = std::move(*point);
  LATHE_TRY(record.measurement, measurement_from_row(row, column + 1));
  column += 8;
  LATHE_TRY(record.strategy, text_from(row, column++, "strategy"));
  LATHE_TRY(const int64_t seed, integer_from(row, column++, "seed"));
  record.seed = std::bit_cast<uint64_t>(seed);
  LATHE_TRY(record.created_at, integer_from(row, column++, "created_at"));
  LATHE_TRY(record.wall_seconds, number_within(row, column++, "wall_seconds", 0, kMostSeconds));
  if (!row.is_null(column)) {
    // By one beyond these every result would be right, or none.
    LATHE_TRY(record.tolerance, number_within(row, column, "tolerance", 0, 1));
  }
  return record;
}

Result<TaskText> task_alone(const Statement& row) {
  TaskText task;
  LATHE_TRY(task.hash, hash_from(row.text(0)));
  task.name = row.text(1);  // for people, whatever it is
  LATHE_TRY(task.dag, text_from(row, 2, "dag"));
  LATHE_TRY(task.constants, json_as<std::vector<std::string>>(row, 3, "constants"));
  LATHE_TRY(const int64_t free_layouts, integer_from(row, 4, "free_layouts"));
  task.free_layouts = free_layouts != 0;
  LATHE_TRY(task.layouts, json_as<std::vector<std::string>>(row, 5, "layouts"));
  if (!row.is_null(6)) {
    LATHE_TRY(const int64_t runs_cold, integer_from(row, 6, "runs_cold"));
    task.runs_cold = runs_cold != 0;
  }
  if (!row.is_null(7)) {
    LATHE_TRY(task.algorithm, text_from(row, 7, "algorithm"));
  }
  return task;
}

}  // namespace lathe
