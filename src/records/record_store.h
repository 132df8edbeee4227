// The records file: an SQLite database in which every measurement is kept, whatever happens to the process.
// An append is a transaction of its own and on disk (synchronous=FULL) when it returns. Several processes may
// write one file at once. A store is used from one thread at a time. Every failure is one sentence that names
// the file. A file that is removed or replaced while it is open is noticed with the next write, whose error
// says where all that it held is kept. Records and tasks that are damaged are set aside when the file is
// opened: no query finds them, and only repair changes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/damage.h"
#include "records/record.h"
#include "records/schema.h"
#include "records/sqlite.h"

namespace lathe {

// Which records: those that agree with every field given.
struct RecordQuery {
  std::optional<uint64_t> task_hash = {};
  std::optional<std::string> target = {};
  std::optional<std::string> machine = {};
  std::optional<int> cores = {};
  std::optional<std::string> compiler_version = {};
  std::vector<int64_t> except = {};  // ids of records that do not count
};

// What came of records that were to be merged.
struct MergeCounts {
  int64_t added = 0;
  int64_t changed = 0;                  // those in the file that took over a failure or a better time
  std::vector<TaskText> left_out = {};  // tasks whose traces speak in other names than those in the file
};

class RecordStore {
 public:
  // Opens or creates a file for writing and tries to write it, so that a tuning run fails before it starts.
  // An Error where the directory is missing or takes no new files, the file is read-only, no records file, of
  // a newer version, or cannot be read by SQLite.
  static Result<RecordStore> open(const std::string& path);
  // Opens an existing file for reading; append is then an error.
  static Result<RecordStore> open_read_only(const std::string& path);

  // What is set aside.
  const Damage& damage() const { return damage_; }
  // Sets aside, too, the tasks whose text does not make the task that their hash names. Takes milliseconds a
  // task.
  Status set_aside_misfits();
  // Moves what is set aside to tables of its own (records/damage.h), where nothing that was measured is lost,
  // and gives what that was.
  Result<Damage> repair();

  // Stores the record, on disk before this returns, and gives its id; record.id is ignored.
  Result<int64_t> append(const Record& record);
  // Stores all of them or none, on disk before this returns, and gives their ids. For records of one second.
  Result<std::vector<int64_t>> append_all(std::span<const Record> records);
  // For records that could not be appended, and why: keeps them in FILE.saved, a records file of its own, or
  // where that cannot be written in one of its name in /tmp, and gives the sentence that says so, or that
  // they are lost.
  Error keep_aside(std::span<const Record> records, const Error& why) const;

  // Stores those that this file does not have yet, all or none, except of tasks that it knows under other
  // names. A record is the same where task, target, machine, cores, compiler, trace and moment are; one that
  // the file has becomes failed where the one that comes is, by no stricter tolerance, and otherwise takes
  // its samples where they go on from its own, or are faster where neither does.
  Result<MergeCounts> append_missing(std::span<const Record> records);
  // Removes all but the `keep` fastest records of each task, target, machine, number of cores and compiler
  // version, and those that failed; gives how many went, and their room back to the file system.
  Result<int64_t> prune(int64_t keep);

  // Takes a record's time away: its program turned out to be wrong, by this tolerance where it was compared.
  // Its samples stay. Error not_found where there is none of this id.
  Status mark_failed(int64_t id, const MeasureFailure& failure, std::optional<double> tolerance);

  // Adds later samples of its program (seconds) to a record: its time becomes the centre of all of them. One
  // that failed stays as it is. Error not_found where there is none of this id.
  Status add_samples(int64_t id, std::span<const double> later);

  // In the order of their ids.
  Result<std::vector<Record>> find(const RecordQuery& query) const;
  Result<int64_t> count(const RecordQuery& query) const;
  // The fastest one that did not fail, ties to the earlier one; none if there is none.
  Result<std::optional<Record>> best(const RecordQuery& query) const;
  // Error not_found where there is none of this id, of kind database where it is damaged.
  Result<Record> by_id(int64_t id) const;
  // The text under which this task came first; none where it never came or is damaged.
  Result<std::optional<TaskText>> task(uint64_t hash) const;
  // The same; stores this text where there is none. Whoever comes next under other names finds it.
  Result<TaskText> known_as(const TaskText& task);
  // In the order in which they were first recorded.
  Result<std::vector<TaskSummary>> tasks() const;

  const std::string& path() const { return path_; }

 private:
  RecordStore(Connection connection, std::string path, LaterColumns columns, Damage damage);
  static Result<RecordStore> open_to_write(const std::string& path);
  // The text under which the file knows a task that was given to it; an Error where it does not.
  Result<TaskText> stored(const TaskText& task) const;
  Status insert(const Record& record);
  // Within a transaction: unless the file knows the task.
  Status write_task(const TaskText& task);
  // The id of the first record that is the same.
  Result<std::optional<int64_t>> same_as(const Record& record) const;
  // Within a transaction: whether the record of this id now holds what the same one elsewhere knows better.
  Result<bool> take_over(int64_t id, const Record& theirs);
  Status write_failure(int64_t id, const MeasureFailure& failure, std::optional<double> tolerance);
  Status write_time(int64_t id, const Measurement& again);
  Status in_transaction(const std::function<Status()>& work);
  Error keep_elsewhere();

  Connection connection_;
  std::string path_;
  LaterColumns columns_;
  Damage damage_;
  std::optional<Error> moved_ = {};  // what was said once the file was found to be gone
};

}  // namespace lathe
