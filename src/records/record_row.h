// Records as rows of the tables of schema.h: the statements, and their parameters and columns in order.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/record.h"
#include "records/sqlite.h"

namespace lathe {

// A task keeps the name and text under which it came first: its hash says that they are equivalent.
inline constexpr std::string_view kInsertTask =
    "INSERT OR IGNORE INTO tasks (hash, name, dag, constants, free_layouts, layouts) VALUES (?, ?, ?, ?, ?, "
    "?)";
inline constexpr std::string_view kInsertRecord =
    "INSERT INTO records (task, target, machine, cores, compiler_version, trace, point, source, samples, "
    "seconds, "
    "spread, timed_once, failure_kind, failure_message, strategy, seed, created_at, wall_seconds, tolerance) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr std::string_view kSelectTask =
    "SELECT hash, name, dag, constants, free_layouts, layouts FROM tasks WHERE hash = ?";
// SQLite takes the bare column id from the row that holds the least seconds.
inline constexpr std::string_view kSelectTasks =
    "SELECT hash, name, dag, constants, free_layouts, layouts, target, cores, count(*), sum(failure_kind IS "
    "NOT "
    "NULL), "
    "min(seconds), id FROM records JOIN tasks ON records.task = tasks.hash "
    "GROUP BY hash, target, cores ORDER BY tasks.rowid, target, cores";
// A record that was stored before: whatever else it holds follows from these.
inline constexpr std::string_view kSelectSame =
    "SELECT id FROM records WHERE task = ? AND target = ? AND machine = ? AND cores = ? AND "
    "compiler_version = ? AND trace = ? AND created_at = ?";
// All that failed or has so many faster ones beside it.
inline constexpr std::string_view kDeleteSlower =
    "DELETE FROM records WHERE id NOT IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY task, "
    "target, machine, cores, compiler_version ORDER BY seconds, id) AS place FROM records WHERE seconds IS "
    "NOT NULL) WHERE place <= ?)";

// Without WHERE. `tolerance` is the column's name, or what stands for it in a file that lacks it.
std::string select_record(std::string_view tolerance);

void bind_task(Statement& statement, const TaskText& task);
void bind_record(Statement& statement, const Record& record);
// Parameters samples, seconds, spread, timed_once.
void bind_time(Statement& statement, const Measurement& measurement);
// An Error of kind database where a column does not hold what it must.
Result<Record> record_from_row(const Statement& row, const std::string& path);
Result<TaskText> task_from_row(const Statement& row, const std::string& path);
Result<TaskSummary> summary_from_row(const Statement& row, const std::string& path);

}  // namespace lathe
