// What of a records file is damaged, and where it goes: the tables damaged_records and damaged_tasks, which
// hold the same columns, the reason and the time. From there a record comes back when its task is whole
// again.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "records/judge.h"
#include "records/record.h"
#include "records/schema.h"
#include "records/sqlite.h"

namespace lathe {

// The tables' columns, but for the reason and the time.
inline constexpr std::string_view kTaskColumns =
    "hash, name, dag, constants, free_layouts, layouts, runs_cold, algorithm";
inline constexpr std::string_view kRecordColumns =
    "id, task, target, machine, cores, compiler_version, trace, point, source, samples, seconds, spread, "
    "timed_once, failure_kind, failure_message, strategy, seed, created_at, wall_seconds, tolerance";

// Reads all of the file, some 30 us a record, and calls `each` with every record that can be used, in the
// order of their ids. An Error where SQLite cannot read it.
Result<Damage> find_damage(const Connection& connection, const LaterColumns& columns, Judge& judge,
                           const std::function<void(const Statement& row, const Record& record)>& each);

// The four below work within a transaction.

// Makes the two tables where they are missing.
Status make_damaged_tables(Connection& connection);
// Moves all of it there, but for tasks that records of other versions still name.
Status move_damage(Connection& connection, const Damage& damage);
// Copies one task there, and gives its place to this text.
Status replace_damaged_task(Connection& connection, const DamagedTask& damaged, const TaskText& text);
// Puts back the records of this task that can be used now.
Status put_records_back(Connection& connection, Judge& judge, std::string_view hash);

}  // namespace lathe
