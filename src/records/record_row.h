// Records as rows of the tables of schema.h: the statements, and their parameters and columns in order.
#pragma once

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
// A record that was stored before: whatever else it holds follows from these.
inline constexpr std::string_view kSelectSame =
    "SELECT id FROM records WHERE task = ? AND +target = ? AND machine = ? AND cores = ? AND "
    "+compiler_version = ? AND trace = ? AND created_at = ? ORDER BY id LIMIT 1";
// All that failed or has so many faster ones beside it.
inline constexpr std::string_view kDeleteSlower =
    "DELETE FROM records WHERE id NOT IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY task, "
    "target, machine, cores, compiler_version ORDER BY seconds, id) AS place FROM records WHERE "
    "failure_kind IS NULL AND seconds IS NOT NULL) WHERE place <= ?)";

// Rows for record_from_row, without WHERE; for task_from_row, the one of a hash; for summary_from_row.
std::string select_record(const LaterColumns& columns);
std::string select_task(const LaterColumns& columns);
std::string select_summaries(const LaterColumns& columns);

void bind_task(Statement& statement, const TaskText& task);
void bind_record(Statement& statement, const Record& record);
// Parameters samples, seconds, spread, timed_once.
void bind_time(Statement& statement, const Measurement& measurement);
// An Error of kind database where a column does not hold what it must.
Result<Record> record_from_row(const Statement& row, const std::string& path);
Result<TaskText> task_from_row(const Statement& row, const std::string& path);
Result<TaskSummary> summary_from_row(const Statement& row, const std::string& path);

}  // namespace lathe
