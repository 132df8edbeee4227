// Records as rows of the tables of schema.h: the statements, and their parameters and columns in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/record.h"
#include "records/schema.h"
#include "records/sqlite.h"

namespace lathe {

// A task keeps the name and text under which it came first: its hash says that they are equivalent.
inline constexpr std::string_view kInsertTask =
    "INSERT OR IGNORE INTO tasks (hash, name, dag, constants, free_layouts, layouts, runs_cold, "
    "algorithm) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr std::string_view kInsertRecord =
    "INSERT INTO records (task, target, machine, cores, compiler_version, trace, point, source, samples, "
    "seconds, "
    "spread, timed_once, failure_kind, failure_message, strategy, seed, created_at, wall_seconds, tolerance) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
// Of a record that was stored before: whatever else it holds follows from these.
inline constexpr std::string_view kWhereSame =
    " WHERE task = ? AND +target = ? AND machine = ? AND cores = ? AND +compiler_version = ? AND trace = ? "
    "AND "
    "created_at = ? ORDER BY id";
// All that failed or has so many faster ones beside it, but for the ids of a JSON list.
inline constexpr std::string_view kDeleteSlower =
    "WITH aside (id) AS (SELECT value FROM json_each(?)) DELETE FROM records WHERE id NOT IN aside AND id "
    "NOT "
    "IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY task, target, machine, cores, "
    "compiler_version ORDER BY seconds, id) AS place FROM records WHERE failure_kind IS NULL AND seconds IS "
    "NOT NULL AND id NOT IN aside) WHERE place <= ?)";

// Rows for record_alone and, as they begin with their task's columns, for task_alone; without WHERE. Where
// the task is missing its columns are NULL.
std::string select_record(const LaterColumns& columns, std::string_view table = "records");
// Rows for task_alone: the one of a hash, and all.
std::string select_task(const LaterColumns& columns);
std::string select_all_tasks(const LaterColumns& columns);
inline constexpr int kRowOfTask = 8;     // its rowid, in each of these
inline constexpr int kTaskOfRecord = 9;  // what the record's column task holds
inline constexpr int kIdOfRecord = 10;

void bind_task(Statement& statement, const TaskText& task);
void bind_record(Statement& statement, const Record& record);
// Parameters samples, seconds, spread, timed_once.
void bind_time(Statement& statement, const Measurement& measurement);
// An Error whose message is the reason alone, half a sentence, where a column does not hold what it must; the
// record is without its task.
Result<Record> record_alone(const Statement& row);
Result<TaskText> task_alone(const Statement& row);

}  // namespace lathe
