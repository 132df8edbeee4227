// What of a records file no Lathe can have written, or no program can be made of: found when the file is
// opened, so that everything else can be used. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/record.h"
#include "records/schema.h"
#include "records/sqlite.h"

namespace lathe {

// Reasons are halves of a sentence: "its column seconds holds '-1.0'".
struct DamagedTask {
  int64_t row = 0;  // its rowid
  std::string reason;
};

struct Damage {
  std::map<int64_t, std::string> records;    // ids, with reasons; those of damaged tasks are among them
  std::map<std::string, DamagedTask> tasks;  // by what the column hash holds

  bool empty() const { return records.empty() && tasks.empty(); }
};

// Of all columns of all rows, with the texts of traces and Dags. Reads the whole file: some 20 us a record.
// An Error where SQLite cannot read it.
Result<Damage> find_damage(const Connection& connection, const LaterColumns& columns);

// Adds the tasks whose text does not make the task that their hash names, with their records. Takes
// milliseconds a task.
Status add_misfits(const Connection& connection, const LaterColumns& columns, Damage& damage);

// The ids as the JSON list that statements take.
std::string id_list(const Damage& damage);

// Moves all of it to the tables damaged_records and damaged_tasks, which hold the same columns, the reason
// and the time. Within a transaction.
Status move_damage(Connection& connection, const Damage& damage);
// The same of one task, and gives its place to this text, so that what is recorded next has its task.
Status replace_damaged_task(Connection& connection, const DamagedTask& damaged, const TaskText& text);

}  // namespace lathe
