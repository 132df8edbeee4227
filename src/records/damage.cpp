#include "records/damage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "expr/parse.h"
#include "records/record_row.h"
#include "records/task_text.h"
#include "schedule/trace.h"

namespace lathe {
namespace {

std::string reason_of(const char* what, const Error& error) {
  return fmt::format("its {} cannot be read ({})", what, error.to_string());
}

// Calls `each` with every row.
template <class Each>
Status for_each_row(const Connection& connection, const std::string& sql, Each each) {
  LATHE_TRY(Statement row, connection.prepare(sql));
  for (;;) {
    LATHE_TRY(const bool has_row, row.step());
    if (!has_row) return {};
    each(row);
  }
}

void look_at_task(const Statement& row, Damage& damage, std::set<std::string>& known) {
  const std::string hash = row.text(0);
  known.insert(hash);
  std::string reason;
  const Result<TaskText> task = task_alone(row);
  if (task) {
    const Result<Dag> dag = parse_dag(task->dag, "column dag");
    if (!dag) reason = reason_of("formula", dag.error());
  } else {
    reason = task.error().message;
  }
  if (!reason.empty()) damage.tasks[hash] = {row.integer(kRowOfTask), reason};
}

std::string of_task(const std::string& hash, const std::string& reason) {
  return fmt::format("it is of task {}, which is damaged: {},", hash, reason);
}

void look_at_record(const Statement& row, const std::set<std::string>& known, Damage& damage) {
  std::string reason;
  const std::string task = row.text(0);
  const Result<Record> record = record_alone(row);
  if (!record) {
    reason = record.error().message;
  } else if (const auto damaged = damage.tasks.find(task); damaged != damage.tasks.end()) {
    reason = of_task(task, damaged->second.reason);
  } else if (!known.contains(task)) {
    reason = fmt::format("the file does not hold the task '{}' that is named", task);
  } else if (const Result<Trace> trace = parse_trace(record->trace, "column trace"); !trace) {
    reason = reason_of("trace", trace.error());
  }
  if (!reason.empty()) damage.records[row.integer(kIdOfRecord)] = std::move(reason);
}

constexpr std::string_view kTaskColumns =
    "hash, name, dag, constants, free_layouts, layouts, runs_cold, algorithm";
constexpr std::string_view kRecordColumns =
    "id, task, target, machine, cores, compiler_version, trace, point, source, samples, seconds, spread, "
    "timed_once, failure_kind, failure_message, strategy, seed, created_at, wall_seconds, tolerance";

// Without types: what they hold is what was there, whatever it is.
Status make_tables(Connection& connection) {
  return connection.execute(fmt::format("CREATE TABLE IF NOT EXISTS damaged_tasks ({}, reason, moved_at); "
                                        "CREATE TABLE IF NOT EXISTS damaged_records ({}, reason, moved_at)",
                                        kTaskColumns, kRecordColumns)
                                .c_str());
}

Status copy_aside(Connection& connection, std::string_view table, std::string_view columns, int64_t row,
                  const std::string& reason) {
  LATHE_TRY(Statement statement,
            connection.prepare(fmt::format("INSERT INTO damaged_{0} ({1}, reason, moved_at) SELECT {1}, ?, "
                                           "datetime('now') FROM {0} WHERE rowid = ?",
                                           table, columns)));
  statement.bind(std::string_view(reason)).bind(row);
  LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
  return {};
}

Status remove(Connection& connection, std::string_view table, int64_t row) {
  LATHE_TRY(Statement statement, connection.prepare(fmt::format("DELETE FROM {} WHERE rowid = ?", table)));
  statement.bind(row);
  LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
  return {};
}

}  // namespace

Result<Damage> find_damage(const Connection& connection, const LaterColumns& columns) {
  Damage damage;
  std::set<std::string> known;
  LATHE_TRY_STATUS(for_each_row(connection, select_all_tasks(columns),
                                [&](const Statement& row) { look_at_task(row, damage, known); }));
  LATHE_TRY_STATUS(for_each_row(connection, select_all_records(columns),
                                [&](const Statement& row) { look_at_record(row, known, damage); }));
  return damage;
}

Status add_misfits(const Connection& connection, const LaterColumns& columns, Damage& damage) {
  struct Place {
    std::string target;
    int cores = 1;
  };
  std::map<std::string, Place> places;  // one that each task was measured on
  const std::string one_of_each = fmt::format(
      "SELECT task, target, cores FROM records WHERE id NOT IN (SELECT value FROM "
      "json_each('{}')) GROUP BY task",
      id_list(damage));
  LATHE_TRY_STATUS(for_each_row(connection, one_of_each, [&](const Statement& row) {
    places[row.text(0)] = {row.text(1), static_cast<int>(row.integer(2))};
  }));
  LATHE_TRY_STATUS(for_each_row(connection, select_all_tasks(columns), [&](const Statement& row) {
    const auto place = places.find(row.text(0));
    if (place == places.end()) return;
    const Result<TaskText> text = task_alone(row);
    const Result<Target> target = parse_target(place->second.target);
    if (!text || !target) return;  // another Lathe may know the target
    const Result<Task> task = task_of(*text, *target, place->second.cores);
    if (task) return;
    damage.tasks[row.text(0)] = {row.integer(kRowOfTask), reason_of("text", task.error())};
  }));
  return for_each_row(connection, "SELECT id, task FROM records", [&](const Statement& row) {
    const auto task = damage.tasks.find(row.text(1));
    if (task != damage.tasks.end())
      damage.records.try_emplace(row.integer(0), of_task(task->first, task->second.reason));
  });
}

std::string id_list(const Damage& damage) {
  std::vector<int64_t> ids;
  for (const auto& [id, reason] : damage.records) ids.push_back(id);
  return fmt::format("[{}]", fmt::join(ids, ","));
}

Status move_damage(Connection& connection, const Damage& damage) {
  LATHE_TRY_STATUS(make_tables(connection));
  for (const auto& [id, reason] : damage.records) {
    LATHE_TRY_STATUS(copy_aside(connection, "records", kRecordColumns, id, reason));
    LATHE_TRY_STATUS(remove(connection, "records", id));
  }
  for (const auto& [hash, task] : damage.tasks) {
    LATHE_TRY_STATUS(copy_aside(connection, "tasks", kTaskColumns, task.row, task.reason));
    LATHE_TRY_STATUS(remove(connection, "tasks", task.row));
  }
  return {};
}

Status replace_damaged_task(Connection& connection, const DamagedTask& damaged, const TaskText& text) {
  LATHE_TRY_STATUS(make_tables(connection));
  LATHE_TRY_STATUS(copy_aside(connection, "tasks", kTaskColumns, damaged.row, damaged.reason));
  LATHE_TRY(Statement statement,
            connection.prepare(fmt::format("UPDATE tasks SET ({}) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE rowid = ?",
                                           kTaskColumns)));
  bind_task(statement, text);
  statement.bind(damaged.row);
  LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
  return {};
}

}  // namespace lathe
