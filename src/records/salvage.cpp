#include "records/salvage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_type.h"
#include "records/connect.h"
#include "records/damage.h"
#include "records/free_path.h"
#include "records/schema.h"
#include "records/sqlite.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// Ids are given once, so those of a pruned file lie far apart. So many are asked for one by one, also where
// damage hides how many were given; those above are found by what leads to them.
constexpr int64_t kIdsAskedFor = 1'000'000;

struct Table {
  std::string name;
  std::string columns;  // as the damaged file has them
  int count;
  // Those of damaged_NAME, for rows that the table does not take; none: it takes all.
  std::string_view aside = {};
};

struct Copied {
  int64_t rows = 0;
  int64_t refused = 0;
  int64_t largest_id = 0;
};

int64_t largest_id(const Connection& damaged, const Table& table) {
  int64_t largest = 0;
  for (const char* question :
       {"SELECT max(rowid) FROM {}", "SELECT seq FROM sqlite_sequence WHERE name = '{}'"}) {
    const Result<int64_t> answer = damaged.integer(fmt::format(fmt::runtime(question), table.name));
    if (answer) largest = std::max(largest, *answer);
  }
  return largest > 0 ? largest : kIdsAskedFor;
}

std::string places(int count) {
  const std::vector<std::string> each(static_cast<size_t>(count), "?");
  return fmt::format("{}", fmt::join(each, ", "));
}

// Copies rows of one table.
class RowCopier {
 public:
  // `read` gives the columns of one row after its number.
  static Result<RowCopier> create(Statement read, Connection& whole, const Table& table) {
    LATHE_TRY(Statement insert, whole.prepare(fmt::format("INSERT OR IGNORE INTO {} VALUES ({})", table.name,
                                                          places(table.count))));
    std::optional<Statement> aside;
    if (!table.aside.empty()) {
      LATHE_TRY(aside,
                whole.prepare(fmt::format(
                    "INSERT INTO damaged_{} ({}, reason, moved_at) VALUES ({}, 'it lacks what must not be "
                    "missing, or is there twice', datetime('now'))",
                    table.name, table.aside, places(table.count))));
    }
    return RowCopier(std::move(read), std::move(insert), std::move(aside), whole, table.count);
  }

  // Where it can be read.
  Status copy(int64_t id) {
    read_.reset();
    const Result<bool> row = read_.bind(id).step();
    if (!row || !*row) return {};
    LATHE_TRY_STATUS(write(insert_));
    copied_.largest_id = std::max(copied_.largest_id, id);
    if (whole_.changes() > 0) {
      ++copied_.rows;
    } else if (aside_) {
      LATHE_TRY_STATUS(write(*aside_));
      ++copied_.refused;
    }
    return {};
  }
  const Copied& copied() const { return copied_; }

 private:
  RowCopier(Statement read, Statement insert, std::optional<Statement> aside, Connection& whole, int count)
      : read_(std::move(read)),
        insert_(std::move(insert)),
        aside_(std::move(aside)),
        whole_(whole),
        count_(count) {}

  Status write(Statement& statement) {
    statement.reset();
    for (int column = 1; column <= count_; ++column) statement.bind_column(read_, column);
    return statement.run();
  }

  Statement read_;
  Statement insert_;
  std::optional<Statement> aside_;
  Connection& whole_;
  int count_ = 0;
  Copied copied_ = {};
};

// Row by row, each looked for by its number: what leads to one may be whole where what leads to its neighbour
// is not.
Result<Copied> copy_rows(const Connection& damaged, Connection& whole, const Table& table) {
  Result<Statement> read =
      damaged.prepare(fmt::format("SELECT rowid, {} FROM {} WHERE rowid = ?", table.columns, table.name));
  if (!read) return Copied();
  LATHE_TRY(RowCopier copier, RowCopier::create(std::move(*read), whole, table));
  const int64_t largest = largest_id(damaged, table);
  for (int64_t id = 1; id <= std::min(largest, kIdsAskedFor); ++id) LATHE_TRY_STATUS(copier.copy(id));
  int64_t last = kIdsAskedFor;
  while (last < largest) {
    const Result<int64_t> next = damaged.integer(
        fmt::format("SELECT rowid FROM {} WHERE rowid > {} ORDER BY rowid LIMIT 1", table.name, last));
    if (!next || *next <= last) break;
    last = *next;
    LATHE_TRY_STATUS(copier.copy(last));
  }
  return copier.copied();
}

// Ids are never given again, also those that were given to rows that are lost.
Status set_next_id(const Connection& damaged, Connection& whole, int64_t largest) {
  const Result<int64_t> given = damaged.integer("SELECT seq FROM sqlite_sequence WHERE name = 'records'");
  const int64_t last = given && *given >= largest ? *given : largest + kIdsAskedFor;
  return whole.execute(fmt::format("DELETE FROM sqlite_sequence WHERE name = 'records'; INSERT INTO "
                                   "sqlite_sequence (name, seq) VALUES ('records', {})",
                                   last)
                           .c_str());
}

// What there is in the file made here.
Result<Copied> copy_all(const std::string& from, const std::string& to) {
  LATHE_TRY(const Connection damaged, connect_to_salvage(from));
  LATHE_TRY(const LaterColumns later, later_columns(damaged));
  LATHE_TRY(Connection whole, Connection::open(to, true));
  LATHE_TRY_STATUS(write_schema(whole, to));
  LATHE_TRY_STATUS(whole.execute("BEGIN"));
  LATHE_TRY_STATUS(make_damaged_tables(whole));
  const Table tasks{"tasks",
                    fmt::format("hash, name, dag, constants, free_layouts, layouts, {}, {}", later.runs_cold,
                                later.algorithm),
                    8, kTaskColumns};
  const Table records{
      "records",
      "id, task, target, machine, cores, compiler_version, trace, point, source, samples, "
      "seconds, spread, timed_once, failure_kind, failure_message, strategy, seed, created_at, "
      "wall_seconds, " +
          later.tolerance,
      20, kRecordColumns};
  LATHE_TRY(const Copied copied_tasks, copy_rows(damaged, whole, tasks));
  LATHE_TRY(const Copied copied_records, copy_rows(damaged, whole, records));
  for (const Table& moved :
       {Table{"damaged_tasks", fmt::format("{}, reason, moved_at", kTaskColumns), 10},
        Table{"damaged_records", fmt::format("{}, reason, moved_at", kRecordColumns), 22}})
    LATHE_TRY_STATUS(copy_rows(damaged, whole, moved));
  LATHE_TRY_STATUS(set_next_id(damaged, whole, copied_records.largest_id));
  LATHE_TRY_STATUS(whole.execute("COMMIT"));
  if (copied_tasks.largest_id + copied_records.largest_id > 0) return copied_records;
  return fail(
      ErrorKind::database,
      fmt::format("nothing can be read of the damaged records file {}: it may be removed, or kept aside",
                  from));
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
  LATHE_TRY(const Connection connection, connect_to_salvage(path));
  const Status schema = verify_schema(connection, path, false);
  if (!schema && connection.has_met_damage()) {
    return fail(ErrorKind::database,
                fmt::format("nothing of the records file {} can be saved: its first page or those that say "
                            "what it holds are damaged",
                            path));
  }
  LATHE_TRY_STATUS(schema);
  Result<Statement> check = connection.prepare("PRAGMA integrity_check(1)");
  if (!check) return false;
  const Result<bool> row = check->step();
  return row && *row && check->text(0) == "ok";
}

Result<Salvaged> salvage(const std::string& path) {
  std::error_code ignored;
  const std::string file = fs::weakly_canonical(path, ignored).string();
  LATHE_TRY(const std::string repaired, claim_free_path(file + ".repaired"));
  const Result<Copied> copied = copy_all(file, repaired);
  if (!copied) {
    for (const char* part : {"", "-wal", "-shm", "-journal"}) fs::remove(repaired + part, ignored);
    return std::unexpected(copied.error());
  }
  fs::permissions(repaired, fs::status(file, ignored).permissions(), ignored);
  LATHE_TRY(std::string original, exchange(file, repaired));
  return Salvaged{copied->rows, copied->refused, std::move(original)};
}

}  // namespace lathe
