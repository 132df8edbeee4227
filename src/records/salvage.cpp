#include "records/salvage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_type.h"
#include "records/free_path.h"
#include "records/schema.h"
#include "records/sqlite.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// Ids are given once, so those of a pruned file lie far apart; where damage hides how many were given, so
// many are asked for.
constexpr int64_t kIdsAskedFor = 1'000'000;
constexpr int64_t kMostIds = 20'000'000;

struct Table {
  const char* name;
  std::string columns;  // as the damaged file has them
  int count;
};

// To read what can be read: also where the file is shorter than its head says.
Result<Connection> connect(const std::string& path) {
  LATHE_TRY(Connection connection, Connection::open(path, false));
  connection.set_merges_log(false);
  LATHE_TRY_STATUS(connection.execute("PRAGMA writable_schema = ON"));
  return connection;
}

int64_t largest_id(const Connection& damaged, const Table& table) {
  int64_t largest = 0;
  for (const char* question :
       {"SELECT max(rowid) FROM {}", "SELECT seq FROM sqlite_sequence WHERE name = '{}'"}) {
    const Result<int64_t> answer = damaged.integer(fmt::format(fmt::runtime(question), table.name));
    if (answer) largest = std::max(largest, *answer);
  }
  return largest > 0 ? std::min(largest, kMostIds) : kIdsAskedFor;
}

// Row by row, each looked for by its number: what leads to one may be whole where what leads to its neighbour
// is not. How many were there.
Result<int64_t> copy_rows(const Connection& damaged, Connection& whole, const Table& table) {
  Result<Statement> read =
      damaged.prepare(fmt::format("SELECT rowid, {} FROM {} WHERE rowid = ?", table.columns, table.name));
  if (!read) return 0;
  const std::vector<std::string> places(static_cast<size_t>(table.count), "?");
  LATHE_TRY(Statement insert, whole.prepare(fmt::format("INSERT OR IGNORE INTO {} VALUES ({})", table.name,
                                                        fmt::join(places, ", "))));
  int64_t copied = 0;
  const int64_t largest = largest_id(damaged, table);
  for (int64_t id = 1; id <= largest; ++id) {
    read->reset();
    read->bind(id);
    const Result<bool> row = read->step();
    if (!row || !*row) continue;
    insert.reset();
    for (int column = 1; column <= table.count; ++column) insert.bind_column(*read, column);
    LATHE_TRY([[maybe_unused]] const bool no_row, insert.step());
    ++copied;
  }
  return copied;
}

// How many records there are in the file made here.
Result<int64_t> copy_all(const std::string& from, const std::string& to) {
  LATHE_TRY(const Connection damaged, connect(from));
  LATHE_TRY(const LaterColumns later, later_columns(damaged));
  LATHE_TRY(Connection whole, Connection::open(to, true));
  LATHE_TRY_STATUS(write_schema(whole, to));
  LATHE_TRY_STATUS(whole.execute("BEGIN"));
  const Table tasks{"tasks",
                    fmt::format("hash, name, dag, constants, free_layouts, layouts, {}, {}", later.runs_cold,
                                later.algorithm),
                    8};
  const Table records{
      "records",
      "id, task, target, machine, cores, compiler_version, trace, point, source, samples, "
      "seconds, spread, timed_once, failure_kind, failure_message, strategy, seed, created_at, "
      "wall_seconds, " +
          later.tolerance,
      20};
  LATHE_TRY(const int64_t copied_tasks, copy_rows(damaged, whole, tasks));
  LATHE_TRY(const int64_t copied_records, copy_rows(damaged, whole, records));
  LATHE_TRY_STATUS(whole.execute("COMMIT"));
  if (copied_tasks + copied_records > 0) return copied_records;
  return fail(ErrorKind::database, fmt::format("nothing can be read of the damaged records file {}", from));
}

// A file that was opened elsewhere meanwhile loses its name with it, which its writer notices.
Result<std::string> exchange(const std::string& path, const std::string& repaired) {
  LATHE_TRY(std::string kept, claim_free_path(path + ".damaged"));
  std::error_code error;
  fs::rename(path, kept, error);
  if (!error) {
    std::error_code ignored;
    for (const char* part : {"-wal", "-shm"}) {
      if (fs::exists(path + part, ignored)) fs::rename(path + part, kept + part, ignored);
    }
    fs::rename(repaired, path, error);
  }
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", path, error.message()));
  return kept;
}

}  // namespace

Result<bool> is_whole(const std::string& path) {
  LATHE_TRY(const fs::file_type type, file_type_of(path));
  if (type == fs::file_type::not_found)
    return fail(ErrorKind::not_found, fmt::format("there is no records file {}", path));
  LATHE_TRY(const Connection connection, connect(path));
  LATHE_TRY_STATUS(verify_schema(connection, path, false));
  Result<Statement> check = connection.prepare("PRAGMA integrity_check(1)");
  if (!check) return false;
  const Result<bool> row = check->step();
  return row && *row && check->text(0) == "ok";
}

Result<Salvaged> salvage(const std::string& path) {
  std::error_code ignored;
  const std::string file = fs::weakly_canonical(path, ignored).string();
  LATHE_TRY(const std::string repaired, claim_free_path(file + ".repaired"));
  Result<int64_t> records = copy_all(file, repaired);
  if (!records) {
    for (const char* part : {"", "-wal", "-shm", "-journal"}) fs::remove(repaired + part, ignored);
    return std::unexpected(records.error());
  }
  fs::permissions(repaired, fs::status(file, ignored).permissions(), ignored);
  LATHE_TRY(std::string original, exchange(file, repaired));
  return Salvaged{*records, std::move(original)};
}

}  // namespace lathe
