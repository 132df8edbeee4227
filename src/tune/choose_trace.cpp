#include "tune/choose_trace.h"

#include <algorithm>

#include "compile/compile.h"
#include "space/all.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

// A record that may be chosen, with what decides between two.
struct Candidate {
  Record record;
  Task task;  // in the record's names
  Result<Trace> trace;
};

constexpr double kClearlyFaster = 1.02;
constexpr double kCallSeconds = 50e-9;  // what may come on top in one caller's program and not in another's

// The untuned program's fastest record beside the task's best one.
Result<std::optional<Record>> untuned_record(const Task& recorded, const Record& best,
                                             const RecordStore& records, std::span<const int64_t> except) {
  if (best.machine != recorded.target.machine) return std::nullopt;
  const Result<Space> space = derive_space(recorded);
  if (!space) return std::nullopt;
  const std::string untuned = untuned_trace(*space);
  RecordQuery query = records_of(recorded);
  query.source = best.measurement.source;
  query.except = {except.begin(), except.end()};
  LATHE_TRY(std::vector<Record> found, records.find(query));
  std::erase_if(found,
                [&](const Record& record) { return record.trace != untuned || !record.measurement.ok(); });
  const auto fastest =
      std::ranges::min_element(found, {}, [](const Record& record) { return record.measurement.seconds; });
  if (fastest == found.end()) return std::nullopt;
  return std::move(*fastest);
}

Result<std::optional<Candidate>> best_record(const Task& task, const RecordStore& records,
                                             std::span<const int64_t> except) {
  LATHE_TRY(const std::optional<Record> best, best_record_of(task, records, except));
  if (!best) return std::optional<Candidate>();
  LATHE_TRY(Task recorded, in_recorded_names(task, records));
  LATHE_TRY(const std::optional<Record> untuned, untuned_record(recorded, *best, records, except));
  const bool gives_way =
      !untuned || is_clearly_faster(best->measurement.seconds, untuned->measurement.seconds);
  const Record& chosen = gives_way ? *best : *untuned;
  return Candidate{chosen, std::move(recorded), parse_trace(chosen.trace)};
}

ChosenTrace chosen_of(Candidate candidate) {
  return {std::move(candidate.task), std::move(candidate.trace), candidate.record.id};
}

// The untuned program beside the task's best record, which is of another one.
struct BesideBest {
  Candidate untuned;
  double best_seconds = 0;
};
Result<std::optional<BesideBest>> beside_best(const Task& task, const RecordStore& records) {
  LATHE_TRY(const std::optional<Record> best, best_record_of(task, records));
  if (!best) return std::nullopt;
  LATHE_TRY(Task recorded, in_recorded_names(task, records));
  LATHE_TRY(const auto untuned, untuned_record(recorded, *best, records, {}));
  if (!untuned || untuned->trace == best->trace) return std::nullopt;
  return BesideBest{{*untuned, std::move(recorded), parse_trace(untuned->trace)}, best->measurement.seconds};
}

// What a caller with row-major tensors waits beside the kernel: an estimate, since only the kernel is timed.
double conversion_seconds(const Candidate& candidate) {
  // Measured in artifacts, on one core: 5 GB/s where no near cache holds both sides of a tensor, 33 GB/s for
  // 400 kB in a second-level cache of 1 MB (docs/notes/conversions.md).
  constexpr double kBytesPerSecond = 5e9;
  constexpr double kNearBytesPerSecond = 25e9;
  if (!candidate.trace) return 0;
  const auto near = static_cast<double>(near_cache_bytes(candidate.task.target)) / 2;
  double seconds = 0;
  for (const Argument& argument : candidate.task.arguments) {
    const Tensor& tensor = argument.tensor;
    const auto is_converted = [&](const Step& step) {
      const auto* layout = std::get_if<LayoutStep>(&step);
      return layout != nullptr && layout->tensor == tensor->name &&
             !is_row_major(layout->layout, tensor->shape);
    };
    if (!argument.layout_is_free || std::ranges::none_of(*candidate.trace, is_converted)) continue;
    auto of_tensor = static_cast<double>(bytes_of(tensor->dtype));
    for (const int64_t extent : tensor->shape) of_tensor *= static_cast<double>(extent);
    seconds += of_tensor / (of_tensor <= near ? kNearBytesPerSecond : kBytesPerSecond);
  }
  return seconds;
}

// Whether the program with layouts of its own is to be taken rather than the one for row-major callers.
bool free_is_better(const Candidate& free, const Candidate& fixed, const Task& task,
                    FreeLayouts free_layouts) {
  if (free_layouts == FreeLayouts::first) return true;
  // Times of two processors do not compare.
  if (free.record.machine != fixed.record.machine) return free.record.machine == task.target.machine;
  return free.record.measurement.seconds + conversion_seconds(free) < fixed.record.measurement.seconds;
}

// The analytic model's choice: the first of the space's preferred points that compiles, or the naive program.
Result<Trace> first_trial(const Task& task, const TryCompile& compiles) {
  LATHE_TRY(const Space space, derive_space(task));
  for (const Point& point : space.preferred_points()) {
    Result<Trace> trace = space.trace(point);
    if (trace && compiles(task, *trace)) return trace;
  }
  LATHE_TRY_STATUS(compiles(task, space.naive()));
  return space.naive();
}

bool is_fixed_row_major(const Argument& argument) {
  return !argument.layout_is_free && argument.layout == Layout::row_major(argument.tensor->shape.size());
}

}  // namespace

Status try_compile(const Task& task, const Trace& trace) {
  const Result<Module> compiled = compile(task, trace);
  return compiled ? Status() : std::unexpected(compiled.error());
}

Result<ChosenTrace> choose_trace(const Task& task, const RecordStore* records, FreeLayouts free_layouts,
                                 std::span<const int64_t> except, const TryCompile& compiles) {
  if (records != nullptr) {
    LATHE_TRY(std::optional<Candidate> fixed, best_record(task, *records, except));
    if (free_layouts != FreeLayouts::never && std::ranges::all_of(task.arguments, is_fixed_row_major)) {
      Task freed = task;
      for (Argument& argument : freed.arguments) argument.layout_is_free = !argument.is_constant;
      LATHE_TRY(std::optional<Candidate> free, best_record(freed, *records, except));
      if (free && (!fixed || free_is_better(*free, *fixed, task, free_layouts)))
        return chosen_of(std::move(*free));
    }
    if (fixed) return chosen_of(std::move(*fixed));
  }
  LATHE_TRY(Trace trace, first_trial(task, compiles));
  return ChosenTrace{task, std::move(trace), std::nullopt};
}

bool is_clearly_faster(double seconds, double untuned_seconds) {
  return seconds * kClearlyFaster + kCallSeconds < untuned_seconds;
}

Result<std::optional<ChosenTrace>> recorded_untuned(const Task& task, const RecordStore& records) {
  LATHE_TRY(auto beside, beside_best(task, records));
  if (!beside) return std::nullopt;
  return chosen_of(std::move(beside->untuned));
}

Result<std::optional<ChosenTrace>> close_untuned(const Task& task, const RecordStore& records) {
  LATHE_TRY(auto beside, beside_best(task, records));
  if (!beside) return std::nullopt;
  const double seconds = beside->untuned.record.measurement.seconds;
  const bool is_close = seconds <= beside->best_seconds * kCloseEnough;
  if (!is_close || !is_clearly_faster(beside->best_seconds, seconds)) return std::nullopt;
  return chosen_of(std::move(beside->untuned));
}

std::string untuned_trace(const Space& space) {
  if (space.preferred_points().empty()) return to_string(space.naive());
  const Result<Trace> trace = space.trace(space.preferred_points().front());
  return trace ? to_string(*trace) : std::string();
}

Result<Trace> naive_trace(const Task& task) {
  LATHE_TRY(const Space space, derive_space(task));
  return space.naive();
}

}  // namespace lathe
