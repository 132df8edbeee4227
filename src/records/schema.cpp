#include "records/schema.h"

#include <fmt/format.h>

#include <map>

namespace lathe {
namespace {

constexpr int64_t kApplication = 0x4c746865;  // "Lthe", in the file's head

constexpr const char* kTables = R"(
  CREATE TABLE IF NOT EXISTS tasks (
    hash TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    dag TEXT NOT NULL,
    constants TEXT NOT NULL,
    free_layouts INTEGER NOT NULL,
    layouts TEXT NOT NULL,
    runs_cold INTEGER,
    algorithm TEXT
  );
  CREATE TABLE IF NOT EXISTS records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (hash),
    target TEXT NOT NULL,
    machine TEXT NOT NULL,
    cores INTEGER NOT NULL,
    compiler_version TEXT NOT NULL,
    trace TEXT NOT NULL,
    point TEXT NOT NULL,
    source TEXT NOT NULL,
    samples TEXT NOT NULL,
    seconds REAL,
    spread REAL,
    timed_once INTEGER NOT NULL,
    failure_kind TEXT,
    failure_message TEXT,
    strategy TEXT NOT NULL,
    seed INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    wall_seconds REAL NOT NULL,
    tolerance REAL
  );
  CREATE INDEX IF NOT EXISTS records_by_task ON records (task, target, compiler_version, seconds);
  CREATE INDEX IF NOT EXISTS records_by_time ON records (task, created_at);
)";

// Whether the file's head says so.
bool is_marked_as_ours(const Connection& connection) {
  const Result<int64_t> application = connection.integer("PRAGMA application_id");
  return application && *application == kApplication;
}

}  // namespace

Status verify_schema(const Connection& connection, const std::string& path, bool may_be_empty) {
  LATHE_TRY(const int64_t tables, connection.integer("SELECT count(*) FROM sqlite_master"));
  LATHE_TRY(const int64_t application, connection.integer("PRAGMA application_id"));
  if (application != kApplication) {
    LATHE_TRY(const int64_t version, connection.integer("PRAGMA user_version"));
    const bool is_empty = tables == 0 && application == 0 && version == 0;
    if (is_empty && may_be_empty) return {};
    // Another process may have made the file its records between these questions.
    if (is_marked_as_ours(connection)) return verify_schema(connection, path, may_be_empty);
    return fail(ErrorKind::database,
                fmt::format("{} is not a Lathe records file: it is {}", path,
                            is_empty ? "empty" : "an SQLite database of another program"));
  }
  LATHE_TRY(const int64_t version, connection.integer("PRAGMA user_version"));
  if (version > kRecordSchema) {
    return fail(
        ErrorKind::database,
        fmt::format(
            "the records file {} was written by a newer Lathe: its schema is version {} and this Lathe "
            "knows up to version {}",
            path, version, kRecordSchema));
  }
  return {};
}

Result<LaterColumns> later_columns(const Connection& connection) {
  LaterColumns columns;
  const auto look_for = [&](const char* table, std::string& column) -> Status {
    LATHE_TRY(const int64_t found,
              connection.integer(fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'",
                                             table, column)));
    if (found == 0) column = "NULL";
    return {};
  };
  LATHE_TRY_STATUS(look_for("records", columns.tolerance));
  LATHE_TRY_STATUS(look_for("tasks", columns.runs_cold));
  LATHE_TRY_STATUS(look_for("tasks", columns.algorithm));
  return columns;
}

// A page of nonsense that SQLite takes for an empty one does not show in what is read by way of it. Tasks are
// few, so their index is compared with the table; that of records is as large as the file, and two indexes
// would have to lose the same. (For count(*) SQLite takes the index that it likes.)
Status verify_indexes(const Connection& connection, const std::string& path) {
  LATHE_TRY(
      Statement index,
      connection.prepare("SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' AND tbl_name IN "
                         "('tasks', 'records') AND (name IN ('records_by_task', 'records_by_time') OR "
                         "name LIKE 'sqlite_autoindex%')"));
  std::map<std::string, int64_t> counts;  // by table
  LATHE_TRY(counts["tasks"], connection.integer("SELECT sum(1) FROM tasks NOT INDEXED"));
  for (;;) {
    LATHE_TRY(const bool has_index, index.step());
    if (!has_index) return {};
    const std::string table = index.text(0);
    LATHE_TRY(const int64_t count,
              connection.integer(fmt::format("SELECT sum(1) FROM {} INDEXED BY {}", table, index.text(1))));
    if (counts.try_emplace(table, count).first->second == count) continue;
    return std::unexpected(damage_of_pages("an index does not hold all rows", path));
  }
}

Status write_schema(Connection& connection, const std::string& path) {
  LATHE_TRY_STATUS(connection.execute("BEGIN IMMEDIATE"));
  // Another process may have written the tables since they were last looked for.
  LATHE_TRY_STATUS(verify_schema(connection, path, true));
  LATHE_TRY_STATUS(connection.execute(kTables));
  LATHE_TRY(const LaterColumns found, later_columns(connection));
  const LaterColumns all;
  if (found.tolerance != all.tolerance)
    LATHE_TRY_STATUS(connection.execute("ALTER TABLE records ADD COLUMN tolerance REAL"));
  if (found.runs_cold != all.runs_cold)
    LATHE_TRY_STATUS(connection.execute("ALTER TABLE tasks ADD COLUMN runs_cold INTEGER"));
  if (found.algorithm != all.algorithm)
    LATHE_TRY_STATUS(connection.execute("ALTER TABLE tasks ADD COLUMN algorithm TEXT"));
  // Written even if unchanged: a file or disk that takes no writes is found out here.
  const std::string head =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kRecordSchema);
  LATHE_TRY_STATUS(connection.execute(head.c_str()));
  return connection.execute("COMMIT");
}

}  // namespace lathe
