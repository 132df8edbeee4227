#include "records/record_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file_type.h"
#include "base/hash.h"
#include "records/free_path.h"
#include "records/record_row.h"
#include "records/schema.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

fs::path directory_of(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).parent_path();
}

Status check_place(const std::string& path) {
  LATHE_TRY(const fs::file_type type, file_type_of(path));
  if (type == fs::file_type::directory) {
    return fail(ErrorKind::io, fmt::format("{} is a directory, not a records file", path));
  }
  const fs::path parent = directory_of(path);
  std::error_code ignored;
  if (fs::is_directory(parent, ignored)) return {};
  const std::string why = fs::exists(parent, ignored)
                              ? fmt::format("{} is not a directory", parent.string())
                              : fmt::format("the directory {} does not exist", parent.string());
  return fail(ErrorKind::io, fmt::format("the records file {} cannot be made: {}", path, why));
}

std::unexpected<Error> read_only(const std::string& path) {
  return fail(ErrorKind::io, fmt::format("the records file {} cannot be written: it is read-only", path));
}

// Why the system lets nobody write there, where it does not. While a file is written, SQLite keeps others
// beside it.
Status check_writable(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && access(path.c_str(), W_OK) != 0) return read_only(path);
  const std::string parent = directory_of(fs::weakly_canonical(path, ignored)).string();
  if (access(parent.c_str(), W_OK | X_OK) == 0) return {};
  return fail(
      ErrorKind::io,
      fmt::format("the records file {} cannot be written: no file can be made in the directory {}: {}", path,
                  parent, std::strerror(errno)));
}

// Whether a log of writes that are not in the file yet lies beside it, to which links may lead. An empty file
// has none: SQLite takes a log beside one for a leftover and deletes it.
bool has_log(const std::string& path) {
  std::error_code ignored;
  const std::string log = fs::weakly_canonical(path, ignored).string() + "-wal";
  return fs::exists(log, ignored) && fs::file_size(log, ignored) > 0 && fs::file_size(path, ignored) > 0;
}

// A log that the file of its name has left: what was measured last is in it alone, and SQLite would delete it
// as soon as a new file is made there.
Status check_no_orphan(const std::string& path) {
  std::error_code ignored;
  const std::string file = fs::weakly_canonical(path, ignored).string();
  const std::string log = file + "-wal";
  const bool has_file = fs::exists(file, ignored) && fs::file_size(file, ignored) > 0;
  if (has_file || !fs::exists(log, ignored) || fs::file_size(log, ignored) == 0) return {};
  return fail(
      ErrorKind::io,
      fmt::format("the records file {} is gone, but its log {}, which holds what was measured last, is "
                  "there: move the file back beside it, or remove the log",
                  path, log));
}

// A connection that reads, for verify_schema to look at. A file that is not ours stays as it is, with nothing
// new beside it. One that is ours is opened so that the log goes with whoever closes it last: a log that
// stayed would be merged into whatever file has this name next.
Result<Connection> connect_to_read(const std::string& path) {
  const bool unmerged = has_log(path);
  LATHE_TRY(Connection alone, Connection::open(path, false, true));
  if (!unmerged && !is_marked_as_ours(alone)) return alone;
  LATHE_TRY(Connection shared, Connection::open(path, false));
  // Where the file or its directory cannot be written SQLite's help files cannot be made or would stay;
  // without a log the file is complete and can be read by itself.
  if (!unmerged && shared.read_only()) return alone;
  if (unmerged) shared.set_merges_log(false);
  Status verified = verify_schema(shared, path, false);
  if (!verified && verified.error().kind == ErrorKind::io && !unmerged) return alone;
  LATHE_TRY_STATUS(std::move(verified));
  shared.set_merges_log(true);
  return shared;
}

// " WHERE a = ? AND b = ?" for the fields given and what is set aside, and then the binding of their values.
std::string where_clause(const RecordQuery& query) {
  std::string clause = " WHERE id NOT IN (SELECT value FROM json_each(?))";
  const auto add = [&](bool given, const std::string& condition) {
    if (given) clause += fmt::format(" AND records.{}", condition);
  };
  add(query.task_hash.has_value(), "task = ?");
  add(query.target.has_value(), "target = ?");
  add(query.machine.has_value(), "machine = ?");
  add(query.cores.has_value(), "cores = ?");
  add(query.compiler_version.has_value(), "compiler_version = ?");
  add(!query.except.empty(), fmt::format("id NOT IN ({})", fmt::join(query.except, ", ")));
  return clause;
}

void bind_query(Statement& statement, const RecordQuery& query, const Damage& damage) {
  statement.bind(id_list(damage));
  if (query.task_hash) statement.bind(hash_to_string(*query.task_hash));
  if (query.target) statement.bind(*query.target);
  if (query.machine) statement.bind(*query.machine);
  if (query.cores) statement.bind(static_cast<int64_t>(*query.cores));
  if (query.compiler_version) statement.bind(*query.compiler_version);
}

Result<std::vector<Record>> read_all(Statement& statement, const std::string& path) {
  std::vector<Record> records;
  for (;;) {
    LATHE_TRY(const bool row, statement.step());
    if (!row) return records;
    LATHE_TRY(Record record, record_from_row(statement, path));
    records.push_back(std::move(record));
  }
}

// Whether one measurement of a program tells more than the other: it has the other's samples and more, or
// where neither goes on from the other it is less, for what disturbs a measurement makes it longer.
bool is_better_known(const Measurement& one, const Measurement& other) {
  const auto [of_one, of_other] = std::ranges::mismatch(one.samples, other.samples);
  if (of_other == other.samples.end()) return of_one != one.samples.end();
  return of_one != one.samples.end() && one.seconds < other.seconds;
}

// Has a new file of that name written, and gives its path; where that fails, leaves none.
Result<std::string> write_new(const std::string& file,
                              const std::function<Status(const std::string&)>& write) {
  LATHE_TRY(std::string place, claim_free_path(file));
  const Status written = write(place);
  if (written) return place;
  std::error_code ignored;
  for (const char* part : {"", "-wal", "-shm"}) fs::remove(place + part, ignored);
  return fail(ErrorKind::io, fmt::format("{}: {}", place, written.error().message));
}

// The same for FILE.saved beside the file, or else in /tmp: what filled or removed the one place need not
// have done so to the other. The Error is that of the first.
Result<std::string> write_aside(const std::string& file,
                                const std::function<Status(const std::string&)>& write) {
  const Result<std::string> beside = write_new(file + ".saved", write);
  if (beside) return beside;
  const Result<std::string> elsewhere =
      write_new(fs::path("/tmp") / fs::path(file + ".saved").filename(), write);
  return elsewhere ? elsewhere : beside;
}

}  // namespace

RecordStore::RecordStore(Connection connection, std::string path, LaterColumns columns, Damage damage)
    : connection_(std::move(connection)),
      path_(std::move(path)),
      columns_(std::move(columns)),
      damage_(std::move(damage)) {}

Result<RecordStore> RecordStore::open(const std::string& path) {
  LATHE_TRY_STATUS(check_place(path));
  // First: who may not write the file would leave SQLite's help files beside it, which lock its owner out.
  LATHE_TRY_STATUS(check_writable(path));
  LATHE_TRY_STATUS(check_no_orphan(path));
  return open_to_write(path);
}

Result<RecordStore> RecordStore::open_to_write(const std::string& path) {
  const bool had_log = has_log(path);
  LATHE_TRY(Connection connection, Connection::open(path, true));
  if (had_log) connection.set_merges_log(false);  // it may be another program's
  LATHE_TRY_STATUS(verify_schema(connection, path, true));
  if (connection.read_only()) return read_only(path);
  connection.set_merges_log(true);
  // Where the file system cannot share memory the mode stays what it was, which is as safe and only slower.
  LATHE_TRY_STATUS(connection.execute("PRAGMA journal_mode = WAL"));
  LATHE_TRY_STATUS(connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  LATHE_TRY_STATUS(write_schema(connection, path));
  LATHE_TRY(Damage damage, find_damage(connection, {}));
  return RecordStore(std::move(connection), path, {}, std::move(damage));
}

Result<RecordStore> RecordStore::open_read_only(const std::string& path) {
  LATHE_TRY(const fs::file_type type, file_type_of(path));
  if (type == fs::file_type::not_found) {
    return fail(ErrorKind::not_found, fmt::format("there is no records file {}", path));
  }
  LATHE_TRY_STATUS(check_place(path));
  LATHE_TRY(Connection connection, connect_to_read(path));
  LATHE_TRY_STATUS(verify_schema(connection, path, false));
  LATHE_TRY(LaterColumns columns, later_columns(connection));
  LATHE_TRY(Damage damage, find_damage(connection, columns));
  return RecordStore(std::move(connection), path, std::move(columns), std::move(damage));
}

Status RecordStore::set_aside_misfits() { return add_misfits(connection_, columns_, damage_); }

Result<Damage> RecordStore::repair() {
  if (damage_.empty()) return Damage();
  LATHE_TRY_STATUS(in_transaction([&] { return move_damage(connection_, damage_); }));
  return std::exchange(damage_, {});
}

Result<int64_t> RecordStore::append(const Record& record) {
  LATHE_TRY(const std::vector<int64_t> ids, append_all({&record, 1}));
  return ids.front();
}

Result<std::vector<int64_t>> RecordStore::append_all(std::span<const Record> records) {
  std::vector<int64_t> ids;
  LATHE_TRY_STATUS(in_transaction([&]() -> Status {
    for (const Record& record : records) {
      LATHE_TRY_STATUS(insert(record));
      ids.push_back(connection_.last_row_id());
    }
    return {};
  }));
  return ids;
}

Error RecordStore::keep_aside(std::span<const Record> records, const Error& why) const {
  if (records.empty()) return why;
  const auto write = [&](const std::string& path) -> Status {
    LATHE_TRY(RecordStore store, open(path));
    LATHE_TRY([[maybe_unused]] const std::vector<int64_t> ids, store.append_all(records));
    return {};
  };
  const Result<std::string> place = write_aside(path_, write);
  Error told = why;
  told.message += fmt::format("; {} measured candidate{} {}", records.size(),
                              records.size() == 1 ? " is" : "s are", place ? "kept in " + *place : "lost");
  return told;
}

Result<MergeCounts> RecordStore::append_missing(std::span<const Record> records) {
  MergeCounts counts;
  LATHE_TRY_STATUS(in_transaction([&]() -> Status {
    for (const Record& record : records) {
      LATHE_TRY(const std::optional<int64_t> ours, same_as(record));
      if (ours) {
        LATHE_TRY(const bool changed, take_over(*ours, record));
        counts.changed += changed ? 1 : 0;
        continue;
      }
      LATHE_TRY(const std::optional<TaskText> known, task(record.task.hash));
      if (known && known->dag != record.task.dag) {
        if (std::ranges::find(counts.left_out, record.task) == counts.left_out.end())
          counts.left_out.push_back(record.task);
        continue;
      }
      LATHE_TRY_STATUS(insert(record));
      ++counts.added;
    }
    return {};
  }));
  return counts;
}

Result<int64_t> RecordStore::prune(int64_t keep) {
  LATHE_TRY(const int64_t before, connection_.integer("SELECT count(*) FROM records"));
  LATHE_TRY_STATUS(in_transaction([&]() -> Status {
    LATHE_TRY(Statement statement, connection_.prepare(kDeleteSlower));
    statement.bind(id_list(damage_)).bind(keep);
    LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
    return {};
  }));
  LATHE_TRY(const int64_t after, connection_.integer("SELECT count(*) FROM records"));
  LATHE_TRY_STATUS(connection_.execute("VACUUM"));
  return before - after;
}

Result<bool> RecordStore::take_over(int64_t id, const Record& theirs) {
  LATHE_TRY(const Record ours, by_id(id));
  const Measurement& measurement = theirs.measurement;
  if (!ours.measurement.ok()) return false;
  if (!measurement.ok()) {
    // By a stricter tolerance ours says nothing of it.
    const bool is_stricter = theirs.tolerance && ours.tolerance && *theirs.tolerance < *ours.tolerance;
    if (is_stricter) return false;
    LATHE_TRY_STATUS(write_failure(id, *measurement.failure, theirs.tolerance));
    return true;
  }
  if (!is_better_known(measurement, ours.measurement)) return false;
  LATHE_TRY_STATUS(write_time(id, measurement));
  return true;
}

Result<std::optional<int64_t>> RecordStore::same_as(const Record& record) const {
  LATHE_TRY(Statement statement, connection_.prepare(kSelectSame));
  statement.bind(hash_to_string(record.task.hash)).bind(record.target).bind(record.machine);
  statement.bind(static_cast<int64_t>(record.cores)).bind(record.compiler_version).bind(record.trace);
  statement.bind(record.created_at).bind(id_list(damage_));
  LATHE_TRY(const bool row, statement.step());
  if (!row) return std::nullopt;
  return statement.integer(0);
}

Status RecordStore::in_transaction(const std::function<Status()>& work) {
  if (moved_) return std::unexpected(*moved_);
  Status done = connection_.execute("BEGIN IMMEDIATE");
  if (done) {
    done = work();
    if (done) done = connection_.execute("COMMIT");
    // Some failures have ended the transaction already; the first error is the one to tell.
    if (!done) static_cast<void>(connection_.execute("ROLLBACK"));
  }
  if (!connection_.has_moved()) return done;
  moved_ = keep_elsewhere();
  return std::unexpected(*moved_);
}

// The open file has lost its name, and what it holds goes with the connection.
Error RecordStore::keep_elsewhere() {
  const Result<std::string> place =
      write_aside(path_, [&](const std::string& path) { return connection_.copy_to(path); });
  // A file in its place must not find this one's log beside it.
  static_cast<void>(connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  return {
      ErrorKind::io,
      fmt::format("the records file {} was removed or replaced while it was in use; what it held {}", path_,
                  place ? "is kept in " + *place : "could not be kept in " + place.error().message),
      {},
      {}};
}

Status RecordStore::insert(const Record& record) {
  LATHE_TRY_STATUS(write_task(record.task));
  LATHE_TRY(const TaskText known, stored(record.task));
  // A trace speaks of loops and blocks by name.
  if (known.dag != record.task.dag) {
    return fail(ErrorKind::database,
                fmt::format("the records file {} knows task {} ({}) under other names of tensors and axes",
                            path_, hash_to_string(known.hash), known.name));
  }
  LATHE_TRY(Statement row, connection_.prepare(kInsertRecord));
  bind_record(row, record);
  LATHE_TRY([[maybe_unused]] const bool no_rows, row.step());
  return {};
}

Status RecordStore::write_task(const TaskText& task) {
  // Its records stay aside until the file is opened anew, and are then tried by this text.
  const auto damaged = damage_.tasks.find(hash_to_string(task.hash));
  if (damaged != damage_.tasks.end()) {
    LATHE_TRY_STATUS(replace_damaged_task(connection_, damaged->second, task));
    damage_.tasks.erase(damaged);
    return {};
  }
  LATHE_TRY(Statement statement, connection_.prepare(kInsertTask));
  bind_task(statement, task);
  LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
  return {};
}

Status RecordStore::mark_failed(int64_t id, const MeasureFailure& failure, std::optional<double> tolerance) {
  return in_transaction([&]() -> Status {
    LATHE_TRY([[maybe_unused]] const Record known, by_id(id));
    return write_failure(id, failure, tolerance);
  });
}

Status RecordStore::write_failure(int64_t id, const MeasureFailure& failure,
                                  std::optional<double> tolerance) {
  LATHE_TRY(Statement statement,
            connection_.prepare("UPDATE records SET seconds = NULL, spread = NULL, failure_kind = ?, "
                                "failure_message = ?, tolerance = ? WHERE id = ?"));
  statement.bind(to_string(failure.kind)).bind(failure.message).bind(tolerance).bind(id);
  LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
  return {};
}

Status RecordStore::add_samples(int64_t id, std::span<const double> later) {
  return in_transaction([&]() -> Status {
    LATHE_TRY(const Record known, by_id(id));
    if (!known.measurement.ok() || later.empty()) return {};
    std::vector<double> samples = known.measurement.samples;
    samples.insert(samples.end(), later.begin(), later.end());
    return write_time(id, measurement_of(std::move(samples)));
  });
}

Status RecordStore::write_time(int64_t id, const Measurement& again) {
  LATHE_TRY(Statement statement,
            connection_.prepare(
                "UPDATE records SET samples = ?, seconds = ?, spread = ?, timed_once = ? WHERE id = ?"));
  bind_time(statement, again);
  statement.bind(id);
  LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
  return {};
}

Result<std::vector<Record>> RecordStore::find(const RecordQuery& query) const {
  LATHE_TRY(Statement statement, connection_.prepare(fmt::format("{}{} ORDER BY id", select_record(columns_),
                                                                 where_clause(query))));
  bind_query(statement, query, damage_);
  return read_all(statement, path_);
}

Result<int64_t> RecordStore::count(const RecordQuery& query) const {
  LATHE_TRY(Statement statement, connection_.prepare("SELECT count(*) FROM records" + where_clause(query)));
  bind_query(statement, query, damage_);
  LATHE_TRY([[maybe_unused]] const bool row, statement.step());
  return statement.integer(0);
}

Result<std::optional<Record>> RecordStore::best(const RecordQuery& query) const {
  LATHE_TRY(Statement statement,
            connection_.prepare(fmt::format("{}{} AND failure_kind IS NULL ORDER BY seconds, id LIMIT 1",
                                            select_record(columns_), where_clause(query))));
  bind_query(statement, query, damage_);
  LATHE_TRY(std::vector<Record> records, read_all(statement, path_));
  if (records.empty()) return std::nullopt;
  return std::move(records.front());
}

Result<Record> RecordStore::by_id(int64_t id) const {
  const auto damaged = damage_.records.find(id);
  if (damaged != damage_.records.end()) return std::unexpected(damage_error(path_, id, damaged->second));
  LATHE_TRY(Statement statement,
            connection_.prepare(fmt::format("{} WHERE id = ?", select_record(columns_))));
  statement.bind(id);
  LATHE_TRY(std::vector<Record> records, read_all(statement, path_));
  if (records.empty()) {
    return fail(ErrorKind::not_found, fmt::format("the records file {} has no record {}", path_, id));
  }
  return std::move(records.front());
}

Result<std::optional<TaskText>> RecordStore::task(uint64_t hash) const {
  if (damage_.tasks.contains(hash_to_string(hash))) return std::nullopt;
  LATHE_TRY(Statement statement, connection_.prepare(select_task(columns_)));
  statement.bind(hash_to_string(hash));
  LATHE_TRY(const bool row, statement.step());
  if (!row) return std::nullopt;
  return task_from_row(statement, path_);
}

Result<TaskText> RecordStore::known_as(const TaskText& task) {
  LATHE_TRY(std::optional<TaskText> known, this->task(task.hash));
  if (known) return std::move(*known);
  LATHE_TRY_STATUS(in_transaction([&] { return write_task(task); }));
  // Another process may have been faster.
  return stored(task);
}

Result<TaskText> RecordStore::stored(const TaskText& task) const {
  LATHE_TRY(std::optional<TaskText> known, this->task(task.hash));
  if (known) return std::move(*known);
  return fail(ErrorKind::database,
              fmt::format("the records file {} did not take task {} ({}), which a trigger in it may prevent",
                          path_, hash_to_string(task.hash), task.name));
}

Result<std::vector<TaskSummary>> RecordStore::tasks() const {
  LATHE_TRY(Statement statement, connection_.prepare(select_summaries(columns_)));
  statement.bind(id_list(damage_));
  std::vector<TaskSummary> summaries;
  for (;;) {
    LATHE_TRY(const bool row, statement.step());
    if (!row) return summaries;
    LATHE_TRY(TaskSummary summary, summary_from_row(statement, path_));
    summaries.push_back(std::move(summary));
  }
}

}  // namespace lathe
