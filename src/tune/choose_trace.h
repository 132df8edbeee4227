// Which trace a task is compiled with: its best record, or without one the trial that tuning would begin
// with. Nothing is measured here.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "base/result.h"
#include "records/record_store.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

struct ChosenTrace {
  // The one asked for, or the same with free layouts; in the names in which the record speaks of it.
  Task task;
  Result<Trace> trace;            // an Error where the record's text is none
  std::optional<int64_t> record;  // none: never measured
};

// `records` may be null. Records of other targets, numbers of cores or compiler versions do not count, nor do
// those in `except`; another processor's count where there is none of this one's. Where all layouts are
// row-major a record of the task with free layouts counts too, its time with an estimate of what it takes to
// convert the arguments; between the two best, one of `just_tuned` goes first. An Error where the records
// cannot be read or nothing compiles.
Result<ChosenTrace> choose_trace(const Task& task, const RecordStore* records,
                                 std::span<const int64_t> except = {},
                                 const std::set<int64_t>& just_tuned = {});

// The analytic model's choice: the first of the space's preferred points that compiles, or the naive program.
Result<Trace> first_trial(const Task& task);
// That of the naive program, which is right where a schedule is not: no steps, or the rewrite by the
// algorithm that the task requires.
Result<Trace> naive_trace(const Task& task);

}  // namespace lathe
