// Which trace a task is compiled with: its best record, or without one the trial that tuning would begin
// with. Nothing is measured here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "records/record_store.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

// Whether a task whose layouts are all row-major may be given a program that was tuned with free layouts of
// its activations: for callers that convert row-major tensors.
enum class FreeLayouts : uint8_t {
  never,      // the caller does not convert
  if_faster,  // than the task's own best, with an estimate of what the conversions take
  first,      // wherever there is one
};

struct ChosenTrace {
  // The one asked for, or the same with free layouts; in the names in which the record speaks of it.
  Task task;
  Result<Trace> trace;            // an Error where the record's text is none
  std::optional<int64_t> record;  // none: never measured
};

// `records` may be null. Records of other targets, numbers of cores or compiler versions do not count, nor do
// those in `except`; another processor's count where there is none of this one's, whatever their times, but
// with `first` the layouts decide before the processor. An Error where the records cannot be read
// or nothing compiles.
Result<ChosenTrace> choose_trace(const Task& task, const RecordStore* records,
                                 FreeLayouts free_layouts = FreeLayouts::never,
                                 std::span<const int64_t> except = {});

// The analytic model's choice: the first of the space's preferred points that compiles, or the naive program.
Result<Trace> first_trial(const Task& task);
// That of the naive program, which is right where a schedule is not: no steps, or the rewrite by the
// algorithm that the task requires.
Result<Trace> naive_trace(const Task& task);

}  // namespace lathe
