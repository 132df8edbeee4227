// Which records count for a task, and what they say of its failures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "records/record_store.h"
#include "task/task.h"

namespace lathe {

// Those of this task, its target, its processor and its number of cores that this version of the compiler
// made: the times of another processor are not to be had here, and of another version the time says nothing
// about the code that the trace gives now.
RecordQuery records_of(const Task& task);

// The best of these but for the ids excepted, or where there is none the best that any processor of the
// target recorded: its program runs here too and is the best guess. None where there is none either.
Result<std::optional<Record>> best_record_of(const Task& task, const RecordStore& records,
                                             std::span<const int64_t> except = {});

// The task in the names of tensors and axes under which these records know it, in which their traces speak;
// itself where they do not know it. Formulas that differ in names alone are one task.
Result<Task> in_recorded_names(const Task& task, const RecordStore& records);

// Has the records know the task from now on, before anything of it is measured, so that a run that begins
// beside this one uses the same names; gives it in those.
Result<Task> make_known(const Task& task, RecordStore& records);

// Those of records_of whose outcome holds for a run with this tolerance too (none: that of
// relative_tolerance): all but results that were wrong by a stricter one and may be right by this, and
// programs that were right by a looser one and may be wrong by this.
Result<std::vector<Record>> settled_records(const Task& task, const RecordStore& records,
                                            std::optional<double> tolerance);
// The best of these.
Result<std::optional<Record>> best_settled_record(const Task& task, const RecordStore& records,
                                                  std::optional<double> tolerance);

// How many of these records failed in one way, and the first of them.
struct FailureCount {
  MeasureFailure first;
  int64_t count = 0;
};
// One for each kind, the most frequent first; none where none of them failed.
std::vector<FailureCount> count_failures(const std::vector<Record>& records);

// What every record of the task has that this process makes, by whatever strategy: all but what was measured.
Record blank_record(const Task& task, std::string strategy, uint64_t seed);
// Since 1970, UTC: when a record is made.
int64_t unix_milliseconds();

}  // namespace lathe
