// The records file: an SQLite database in which every measurement is kept, whatever happens to the process.
// An append is a transaction of its own and on disk (synchronous=FULL) when it returns. Several processes may
// write one file at once. A store is used from one thread at a time. Every failure is one sentence that names
// the file. A file that is removed or replaced while it is open is noticed with the next write, whose error
// says where all that it held is kept. Records that are damaged, or whose tasks are, are left out where they
// are read: no query finds them, and only repair changes them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/judge.h"
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
  std::optional<MeasureSource> source = {};
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

  // Has `tell` called, from then on, with what each query leaves out as damaged, again where it was told
  // before.
  void tell_damage(std::function<void(const Damage&)> tell) { tell_ = std::move(tell); }
  // Moves what is damaged to tables of its own (records/damage.h), where nothing that was measured is lost,
  // and gives what that was. Reads the whole file, and tells nobody.
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
  // The fastest one that did not fail, ties to the earlier one; none if there is none. What was measured goes
  // before what was simulated, and that before what was modelled, whatever their times.
  Result<std::optional<Record>> best(const RecordQuery& query) const;
  // Error not_found where there is none of this id, of kind database where it is damaged.
  Result<Record> by_id(int64_t id) const;
  // The text under which this task came first; none where it never came, or its text is damaged.
  Result<std::optional<TaskText>> task(const TaskText& task) const;
  // The same; stores this text where there is none, and puts back what a repair has moved aside of its
  // records. Whoever comes next under other names finds it.
  Result<TaskText> known_as(const TaskText& task);
  // What these records come to, in the order in which their tasks were first recorded. Reads each of them.
  Result<std::vector<TaskSummary>> tasks(const RecordQuery& query) const;
  // Of all that something is recorded of, in the same order.
  Result<std::vector<TaskText>> task_texts() const;

  const std::string& path() const { return path_; }

 private:
  RecordStore(Connection connection, std::string path, LaterColumns columns);
  static Result<RecordStore> open_to_write(const std::string& path);
  // Calls `each` with the records that the query and the rest of its SQL find until it gives false.
  Status read(const RecordQuery& query, std::string_view rest,
              const std::function<bool(const Statement& row, Record record)>& each) const;
  void tell(const Damage& damage) const;
  // The text of this task in the file, unless it is missing or another's; its rowid and why where it is.
  Result<std::optional<TaskText>> text_in_file(const TaskText& task,
                                               std::optional<DamagedTask>& damaged) const;
  Status insert(const Record& record);
  // Within a transaction: the text by which the file knows the task from now on.
  Result<TaskText> settle(const TaskText& task);
  // The first record that is the same; adds what is damaged among those that may be.
  Result<std::optional<Record>> same_as(const Record& record, Damage& damage) const;
  // Within a transaction: whether our record now holds what the same one elsewhere knows better.
  Result<bool> take_over(const Record& ours, const Record& theirs);
  Status write_failure(int64_t id, const MeasureFailure& failure, std::optional<double> tolerance);
  Status write_time(int64_t id, const Measurement& again);
  Status in_transaction(const std::function<Status()>& work);
  Error keep_elsewhere();

  Connection connection_;
  std::string path_;
  LaterColumns columns_;
  std::unique_ptr<Judge> judge_ = std::make_unique<Judge>();
  std::function<void(const Damage&)> tell_ = {};
  std::optional<Error> moved_ = {};  // what was said once the file was found to be gone
};

}  // namespace lathe
