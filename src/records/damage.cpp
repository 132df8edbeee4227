#include "records/damage.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "records/record_row.h"

namespace lathe {
namespace {

Status copy_aside(Connection& connection, std::string_view table, std::string_view columns, int64_t row,
                  const std::string& reason) {
  LATHE_TRY(Statement statement,
            connection.prepare(fmt::format("INSERT INTO damaged_{0} ({1}, reason, moved_at) SELECT {1}, ?, "
                                           "datetime('now') FROM {0} WHERE rowid = ?",
                                           table, columns)));
  statement.bind(std::string_view(reason)).bind(row);
  return statement.run();
}

// Adds the tasks that cannot be read, whether anything is recorded of them or not.
Status add_tasks(const Connection& connection, const LaterColumns& columns, Damage& damage) {
  LATHE_TRY(Statement row, connection.prepare(select_all_tasks(columns)));
  for (;;) {
    LATHE_TRY(const bool has_row, row.step());
    if (!has_row) return {};
    const Result<TaskText> task = task_alone(row);
    if (!task) damage.tasks[row.text(0)] = {row.integer(kRowOfTask), task.error().message};
  }
}

}  // namespace

Result<Damage> find_damage(const Connection& connection, const LaterColumns& columns, Judge& judge,
                           const std::function<void(const Statement& row, const Record& record)>& each) {
  LATHE_TRY(Statement rows, connection.prepare(select_record(columns) + " ORDER BY id"));
  // A task that is right for one of its records is not what is wrong with another.
  std::set<std::string> sound;
  LATHE_TRY(Damage damage, read_records(rows, judge, [&](const Statement& row, const Record& record) {
              if (is_of_this_version(record)) sound.insert(row.text(kTaskOfRecord));
              each(row, record);
              return true;
            }));
  std::erase_if(damage.tasks, [&](const auto& task) { return sound.contains(task.first); });
  LATHE_TRY_STATUS(add_tasks(connection, columns, damage));
  return damage;
}

// Without types: what they hold is what was there, whatever it is.
Status make_damaged_tables(Connection& connection) {
  return connection.execute(fmt::format("CREATE TABLE IF NOT EXISTS damaged_tasks ({}, reason, moved_at); "
                                        "CREATE TABLE IF NOT EXISTS damaged_records ({}, reason, moved_at)",
                                        kTaskColumns, kRecordColumns)
                                .c_str());
}

Status move_damage(Connection& connection, const Damage& damage) {
  LATHE_TRY_STATUS(make_damaged_tables(connection));
  LATHE_TRY(Statement remove_record, connection.prepare("DELETE FROM records WHERE rowid = ?"));
  for (const auto& [id, reason] : damage.records) {
    LATHE_TRY_STATUS(copy_aside(connection, "records", kRecordColumns, id, reason));
    remove_record.reset();
    LATHE_TRY_STATUS(remove_record.bind(id).run());
  }
  LATHE_TRY(
      Statement remove_task,
      connection.prepare("DELETE FROM tasks WHERE rowid = ? AND hash NOT IN (SELECT task FROM records)"));
  for (const auto& [hash, task] : damage.tasks) {
    LATHE_TRY_STATUS(copy_aside(connection, "tasks", kTaskColumns, task.row, task.reason));
    remove_task.reset();
    LATHE_TRY_STATUS(remove_task.bind(task.row).run());
  }
  // Where the largest number was given, the next one follows the largest that stays, here or aside.
  return connection.execute(
      "UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(id), 0) FROM (SELECT id FROM records UNION ALL "
      "SELECT id FROM damaged_records WHERE typeof(id) = 'integer' AND id < 9223372036854775807)) "
      "WHERE name = 'records' AND seq = 9223372036854775807");
}

Status replace_damaged_task(Connection& connection, const DamagedTask& damaged, const TaskText& text) {
  LATHE_TRY_STATUS(make_damaged_tables(connection));
  LATHE_TRY_STATUS(copy_aside(connection, "tasks", kTaskColumns, damaged.row, damaged.reason));
  LATHE_TRY(Statement statement,
            connection.prepare(fmt::format("UPDATE tasks SET ({}) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE rowid = ?",
                                           kTaskColumns)));
  bind_task(statement, text);
  return statement.bind(damaged.row).run();
}

Status put_records_back(Connection& connection, Judge& judge, std::string_view hash) {
  LATHE_TRY(const int64_t tables,
            connection.integer("SELECT count(*) FROM sqlite_master WHERE name = 'damaged_records'"));
  if (tables == 0) return {};
  LATHE_TRY(Statement rows, connection.prepare(select_record({}, "damaged_records") + " WHERE task = ?"));
  rows.bind(hash);
  std::vector<int64_t> ids;
  LATHE_TRY([[maybe_unused]] const Damage still,
            read_records(rows, judge, [&](const Statement&, const Record& record) {
              ids.push_back(record.id);
              return true;
            }));
  for (const int64_t id : ids) {
    for (const std::string& sql :
         {fmt::format("INSERT INTO records ({0}) SELECT {0} FROM damaged_records WHERE task = ? AND id = ?",
                      kRecordColumns),
          std::string("DELETE FROM damaged_records WHERE task = ? AND id = ?")}) {
      LATHE_TRY(Statement statement, connection.prepare(sql));
      LATHE_TRY_STATUS(statement.bind(hash).bind(id).run());
    }
  }
  return {};
}

}  // namespace lathe
