#include "records/record_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/file_type.h"
#include "base/hash.h"
#include "records/connect.h"
#include "records/damage.h"
#include "records/record_row.h"
#include "records/schema.h"
#include "records/write_aside.h"
#include "task/task_text.h"

namespace lathe {
namespace {

// " WHERE a = ? AND b = ?" for the fields given, and then the binding of their values.
std::string where_clause(const RecordQuery& query) {
  std::string clause = " WHERE true";
  const auto add = [&](bool given, const std::string& condition) {
    if (given) clause += fmt::format(" AND records.{}", condition);
  };
  add(query.task_hash.has_value(), "task = ?");
  add(query.target.has_value(), "target = ?");
  add(query.machine.has_value(), "machine = ?");
  add(query.cores.has_value(), "cores = ?");
  add(query.compiler_version.has_value(), "compiler_version = ?");
  add(query.source.has_value(), "source = ?");
  add(!query.except.empty(), fmt::format("id NOT IN ({})", fmt::join(query.except, ", ")));
  return clause;
}

void bind_query(Statement& statement, const RecordQuery& query) {
  if (query.task_hash) statement.bind(hash_to_string(*query.task_hash));
  if (query.target) statement.bind(*query.target);
  if (query.machine) statement.bind(*query.machine);
  if (query.cores) statement.bind(static_cast<int64_t>(*query.cores));
  if (query.compiler_version) statement.bind(*query.compiler_version);
  if (query.source) statement.bind(to_string(*query.source));
}

// Those that did not fail, the best known first.
std::string best_first() {
  std::string order = " AND failure_kind IS NULL ORDER BY CASE source";
  for (const MeasureSource source :
       {MeasureSource::measured, MeasureSource::simulated, MeasureSource::modelled})
    order += fmt::format(" WHEN '{}' THEN {}", to_string(source), static_cast<int>(source));
  return order + " END, seconds, id";
}

// The ids as the JSON list that statements take.
std::string id_list(const Damage& damage) {
  std::vector<int64_t> ids;
  for (const auto& [id, reason] : damage.records) ids.push_back(id);
  return fmt::format("[{}]", fmt::join(ids, ","));
}

// Whether the measurement goes before a best one of that source and time.
bool is_better(const Measurement& measurement, MeasureSource source, double seconds) {
  if (measurement.source != source) return measurement.source < source;
  return measurement.seconds < seconds;
}

void add_to(TaskSummary& summary, const Record& record) {
  ++summary.trials;
  if (record.measurement.failure) {
    ++summary.failed;
  } else if (!summary.best_seconds ||
             is_better(record.measurement, summary.best_source, *summary.best_seconds)) {
    summary.best_seconds = record.measurement.seconds;
    summary.best_source = record.measurement.source;
    summary.best_id = record.id;
  }
}

// Whether one measurement of a program tells more than the other: it has the other's samples and more, or
// where neither goes on from the other it is less, for what disturbs a measurement makes it longer.
bool is_better_known(const Measurement& one, const Measurement& other) {
  const auto [of_one, of_other] = std::ranges::mismatch(one.samples, other.samples);
  if (of_other == other.samples.end()) return of_one != one.samples.end();
  return of_one != one.samples.end() && one.seconds < other.seconds;
}

// Names are for people.
bool is_same_text(const TaskText& one, TaskText other) {
  other.name = one.name;
  return one == other;
}

}  // namespace

RecordStore::RecordStore(Connection connection, std::string path, LaterColumns columns)
    : connection_(std::move(connection)), path_(std::move(path)), columns_(std::move(columns)) {}

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
  LATHE_TRY_STATUS(verify_indexes(connection, path));
  return RecordStore(std::move(connection), path, {});
}

Result<RecordStore> RecordStore::open_read_only(const std::string& path) {
  LATHE_TRY(const std::filesystem::file_type type, file_type_of(path));
  if (type == std::filesystem::file_type::not_found) {
    return fail(ErrorKind::not_found, fmt::format("there is no records file {}", path));
  }
  LATHE_TRY_STATUS(check_place(path));
  LATHE_TRY(Connection connection, connect_to_read(path));
  LATHE_TRY_STATUS(verify_schema(connection, path, false));
  LATHE_TRY(LaterColumns columns, later_columns(connection));
  LATHE_TRY_STATUS(verify_indexes(connection, path));
  return RecordStore(std::move(connection), path, std::move(columns));
}

Result<Damage> RecordStore::repair() {
  Damage damage;
  LATHE_TRY_STATUS(in_transaction([&]() -> Status {
    LATHE_TRY(damage, find_damage(connection_, columns_, *judge_, [](const Statement&, const Record&) {}));
    return damage.empty() ? Status() : move_damage(connection_, damage);
  }));
  return damage;
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
  Damage damage;
  LATHE_TRY_STATUS(in_transaction([&]() -> Status {
    for (const Record& record : records) {
      if (std::ranges::find(counts.left_out, record.task) != counts.left_out.end()) continue;
      // First: what a repair has moved aside of its records, or a damaged text kept from use, is the same.
      LATHE_TRY(const TaskText known, settle(record.task));
      LATHE_TRY(const std::optional<Record> ours, same_as(record, damage));
      if (ours) {
        LATHE_TRY(const bool changed, take_over(*ours, record));
        counts.changed += changed ? 1 : 0;
      } else if (known.dag != record.task.dag) {
        counts.left_out.push_back(record.task);
      } else {
        LATHE_TRY_STATUS(insert(record));
        ++counts.added;
      }
    }
    return {};
  }));
  tell(damage);
  return counts;
}

Result<int64_t> RecordStore::prune(int64_t keep) {
  LATHE_TRY(const int64_t before, connection_.integer("SELECT count(*) FROM records"));
  LATHE_TRY_STATUS(in_transaction([&]() -> Status {
    LATHE_TRY(const Damage damage,
              find_damage(connection_, columns_, *judge_, [](const Statement&, const Record&) {}));
    tell(damage);
    LATHE_TRY(Statement statement, connection_.prepare(kDeleteSlower));
    return statement.bind(id_list(damage)).bind(keep).run();
  }));
  LATHE_TRY(const int64_t after, connection_.integer("SELECT count(*) FROM records"));
  LATHE_TRY_STATUS(connection_.execute("VACUUM"));
  return before - after;
}

Result<bool> RecordStore::take_over(const Record& ours, const Record& theirs) {
  const Measurement& measurement = theirs.measurement;
  if (!ours.measurement.ok()) return false;
  if (!measurement.ok()) {
    // By a stricter tolerance ours says nothing of it.
    const bool is_stricter = theirs.tolerance && ours.tolerance && *theirs.tolerance < *ours.tolerance;
    if (is_stricter) return false;
    LATHE_TRY_STATUS(write_failure(ours.id, *measurement.failure, theirs.tolerance));
    return true;
  }
  if (!is_better_known(measurement, ours.measurement)) return false;
  LATHE_TRY_STATUS(write_time(ours.id, measurement));
  return true;
}

Result<std::optional<Record>> RecordStore::same_as(const Record& record, Damage& damage) const {
  LATHE_TRY(Statement rows, connection_.prepare(fmt::format("{}{}", select_record(columns_), kWhereSame)));
  rows.bind(hash_to_string(record.task.hash)).bind(record.target).bind(record.machine);
  rows.bind(static_cast<int64_t>(record.cores)).bind(record.compiler_version).bind(record.trace);
  rows.bind(record.created_at);
  std::optional<Record> same;
  LATHE_TRY(Damage found, read_records(rows, *judge_, [&](const Statement&, Record first) {
              same = std::move(first);
              return false;
            }));
  damage.records.merge(found.records);
  damage.tasks.merge(found.tasks);
  return same;
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
  LATHE_TRY(const TaskText known, settle(record.task));
  // A trace speaks of loops and blocks by name.
  if (known.dag != record.task.dag) {
    return fail(ErrorKind::database,
                fmt::format("the records file {} knows task {} ({}) under other names of tensors and axes",
                            path_, hash_to_string(known.hash), known.name));
  }
  LATHE_TRY(Statement row, connection_.prepare(kInsertRecord));
  bind_record(row, record);
  Status done = row.run();
  if (done) return done;
  // SQLite calls both a full disk and a table whose largest number is taken full.
  const Result<int64_t> given = connection_.integer(
      "SELECT max((SELECT coalesce(max(id), 0) FROM records), "
      "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'records'))");
  if (!given || *given != std::numeric_limits<int64_t>::max()) return done;
  return fail(ErrorKind::database,
              fmt::format("the records file {} takes no more records: the largest number that there is, {}, "
                          "is given; `lathe records repair` moves that record aside",
                          path_, *given));
}

Result<std::optional<TaskText>> RecordStore::text_in_file(const TaskText& task,
                                                          std::optional<DamagedTask>& damaged) const {
  LATHE_TRY(Statement row, connection_.prepare(select_task(columns_)));
  row.bind(hash_to_string(task.hash));
  LATHE_TRY(const bool has_row, row.step());
  if (!has_row) return std::nullopt;
  const Result<TaskText> known = task_alone(row);
  if (known && (is_same_text(*known, task) || is_same_task(*known, task))) return *known;
  damaged = {row.integer(kRowOfTask), known ? "its text is that of another task" : known.error().message};
  return std::nullopt;
}

Result<TaskText> RecordStore::settle(const TaskText& task) {
  std::optional<DamagedTask> damaged;
  LATHE_TRY(std::optional<TaskText> known, text_in_file(task, damaged));
  if (known) return std::move(*known);
  if (damaged) {
    LATHE_TRY_STATUS(replace_damaged_task(connection_, *damaged, task));
    tell({{}, {{hash_to_string(task.hash), *damaged}}});
  } else {
    LATHE_TRY(Statement statement, connection_.prepare(kInsertTask));
    bind_task(statement, task);
    LATHE_TRY_STATUS(statement.run());
    if (connection_.changes() == 0) {
      return fail(
          ErrorKind::database,
          fmt::format("the records file {} did not take task {} ({}), which a trigger in it may prevent",
                      path_, hash_to_string(task.hash), task.name));
    }
  }
  LATHE_TRY_STATUS(put_records_back(connection_, *judge_, hash_to_string(task.hash)));
  return task;
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

void RecordStore::tell(const Damage& damage) const {
  if (tell_ && !damage.empty()) tell_(damage);
}

Status RecordStore::read(const RecordQuery& query, std::string_view rest,
                         const std::function<bool(const Statement& row, Record record)>& each) const {
  LATHE_TRY(Statement rows,
            connection_.prepare(fmt::format("{}{}{}", select_record(columns_), where_clause(query), rest)));
  bind_query(rows, query);
  LATHE_TRY(const Damage damage, read_records(rows, *judge_, each));
  tell(damage);
  return {};
}

Result<std::vector<Record>> RecordStore::find(const RecordQuery& query) const {
  std::vector<Record> records;
  LATHE_TRY_STATUS(read(query, " ORDER BY id", [&](const Statement&, Record record) {
    records.push_back(std::move(record));
    return true;
  }));
  return records;
}

Result<int64_t> RecordStore::count(const RecordQuery& query) const {
  int64_t count = 0;
  LATHE_TRY_STATUS(read(query, "", [&](const Statement&, const Record&) {
    ++count;
    return true;
  }));
  return count;
}

Result<std::optional<Record>> RecordStore::best(const RecordQuery& query) const {
  std::optional<Record> best;
  LATHE_TRY_STATUS(read(query, best_first(), [&](const Statement&, Record record) {
    best = std::move(record);
    return false;
  }));
  return best;
}

Result<Record> RecordStore::by_id(int64_t id) const {
  LATHE_TRY(Statement rows, connection_.prepare(select_record(columns_) + " WHERE id = ?"));
  rows.bind(id);
  LATHE_TRY(const bool has_row, rows.step());
  if (!has_row) {
    return fail(ErrorKind::not_found, fmt::format("the records file {} has no record {}", path_, id));
  }
  std::expected<Record, Fault> record = judge_->read(rows);
  if (record) return std::move(*record);
  return fail(ErrorKind::database, fmt::format("record {} of the records file {} is damaged: {}", id, path_,
                                               record.error().reason));
}

Result<std::optional<TaskText>> RecordStore::task(const TaskText& task) const {
  std::optional<DamagedTask> ignored;
  return text_in_file(task, ignored);
}

Result<TaskText> RecordStore::known_as(const TaskText& task) {
  LATHE_TRY(std::optional<TaskText> known, this->task(task));
  if (known) return std::move(*known);
  // Another process may be faster.
  LATHE_TRY_STATUS(in_transaction([&]() -> Status {
    LATHE_TRY(known, settle(task));
    return {};
  }));
  return std::move(*known);
}

Result<std::vector<TaskText>> RecordStore::task_texts() const {
  LATHE_TRY(Statement row,
            connection_.prepare(select_all_tasks(columns_) +
                                " WHERE hash IN (SELECT task FROM records) ORDER BY tasks.rowid"));
  std::vector<TaskText> tasks;
  for (;;) {
    LATHE_TRY(const bool has_row, row.step());
    if (!has_row) return tasks;
    Result<TaskText> task = task_alone(row);
    if (task) tasks.push_back(std::move(*task));
  }
}

Result<std::vector<TaskSummary>> RecordStore::tasks(const RecordQuery& query) const {
  std::map<std::tuple<int64_t, std::string, int>, TaskSummary> places;
  LATHE_TRY_STATUS(read(query, " ORDER BY id", [&](const Statement& row, const Record& record) {
    TaskSummary& summary = places[{row.integer(kRowOfTask), record.target, record.cores}];
    if (summary.trials == 0) {
      summary.task = record.task;
      summary.target = record.target;
      summary.cores = record.cores;
    }
    add_to(summary, record);
    return true;
  }));
  std::vector<TaskSummary> summaries;
  for (auto& [key, summary] : places) summaries.push_back(std::move(summary));
  return summaries;
}

}  // namespace lathe
