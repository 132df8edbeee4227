// Which trace a task is compiled with: its best record, or without one the trial that tuning would begin
// with. Where the best record is not clearly faster than that trial's, that trial's is taken: what a caller's
// memory makes of two programs differs by more than they do, and whoever tunes must not end up with a slower
// artifact than whoever does not. Nothing is measured here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "records/record_store.h"
#include "schedule/trace.h"
#include "space/space.h"
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

// Whether a program that was never measured compiles, an Error where it does not. Whoever goes on with the
// program keeps what it has compiled.
using TryCompile = std::function<Status(const Task& task, const Trace& trace)>;
Status try_compile(const Task& task, const Trace& trace);

// `records` may be null. Records of other targets, numbers of cores or compiler versions do not count, nor do
// those in `except`; another processor's count where there is none of this one's, whatever their times, but
// with `first` the layouts decide before the processor. An Error where the records cannot be read
// or nothing compiles.
Result<ChosenTrace> choose_trace(const Task& task, const RecordStore* records,
                                 FreeLayouts free_layouts = FreeLayouts::never,
                                 std::span<const int64_t> except = {},
                                 const TryCompile& compiles = try_compile);

// Whether a program takes the untuned one's place: where it is faster by 2 % and 50 ns. Of two programs of
// 85 kB that a search finds within 1 % of each other, another caller's tensors make either the slower one by
// up to 5 %; and what a caller does between two calls decides how many branches a program begins with that
// the processor does not foresee: two of 1 us that are equal, called one call after another, differ by 50 ns
// in a Python program (docs/notes/search.md).
bool is_clearly_faster(double seconds, double untuned_seconds);

// The untuned program's record where the task's best record is of another program.
Result<std::optional<ChosenTrace>> recorded_untuned(const Task& task, const RecordStore& records);

// Beyond so many times the best one's seconds the untuned program is none that a race in an artifact could
// find as fast: what memory makes of programs is less than this.
inline constexpr double kCloseEnough = 1.15;
// The untuned program's record where the best record of the task is of another program, clearly faster but
// close.
Result<std::optional<ChosenTrace>> close_untuned(const Task& task, const RecordStore& records);

// The trace of a space's trial 0, with which a task is compiled where nothing is recorded; empty where it has
// none.
std::string untuned_trace(const Space& space);
// That of the naive program, which is right where a schedule is not: no steps, or the rewrite by the
// algorithm that the task requires.
Result<Trace> naive_trace(const Task& task);

}  // namespace lathe
