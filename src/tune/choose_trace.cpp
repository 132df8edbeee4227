#include "tune/choose_trace.h"

#include <algorithm>

#include "compile/compile.h"
#include "space/space.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

Result<std::optional<ChosenTrace>> best_record(const Task& task, const RecordStore& records,
                                               std::span<const int64_t> except) {
  LATHE_TRY(const std::optional<Record> best, best_record_of(task, records, except));
  if (!best) return std::optional<ChosenTrace>();
  LATHE_TRY(Task recorded, in_recorded_names(task, records));
  return ChosenTrace{std::move(recorded), parse_trace(best->trace), best->id};
}

bool is_fixed_row_major(const Argument& argument) {
  return !argument.layout_is_free && argument.layout == Layout::row_major(argument.tensor->shape.size());
}

}  // namespace

Result<ChosenTrace> choose_trace(const Task& task, const RecordStore* records,
                                 std::span<const int64_t> except) {
  if (records != nullptr) {
    LATHE_TRY(std::optional<ChosenTrace> best, best_record(task, *records, except));
    if (best) return std::move(*best);
    if (std::ranges::all_of(task.arguments, is_fixed_row_major)) {
      Task free = task;
      for (Argument& argument : free.arguments) argument.layout_is_free = !argument.is_constant;
      LATHE_TRY(best, best_record(free, *records, except));
      if (best) return std::move(*best);
    }
  }
  LATHE_TRY(Trace trace, first_trial(task));
  return ChosenTrace{task, std::move(trace), std::nullopt};
}

Result<Trace> first_trial(const Task& task) {
  LATHE_TRY(const Space space, Space::derive(task));
  for (const Point& point : space.preferred_points()) {
    Result<Trace> trace = space.trace(point);
    if (trace && compile(task, *trace)) return trace;
  }
  const Result<Module> naive = compile(task, space.naive());
  if (!naive) return std::unexpected(naive.error());
  return space.naive();
}

Result<Trace> naive_trace(const Task& task) {
  LATHE_TRY(const Space space, Space::derive(task));
  return space.naive();
}

}  // namespace lathe
