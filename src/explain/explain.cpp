#include "explain/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "artifact/replay.h"
#include "schedule/apply.h"
#include "schedule/words.h"
#include "space/all.h"
#include "task/task.h"

namespace lathe {
namespace {

Result<std::vector<StageBound>> bounds_of(const Record& record, const Roofline& roofline) {
  LATHE_TRY(const Task task, replayed_task(record));
  LATHE_TRY(const Trace trace, replayed_trace(record));
  LATHE_TRY(const Program program, apply_trace(task, trace));
  return stage_bounds(program, task.target, roofline, task.runs_cold);
}

Rival rival_of(const Tried& tried, std::span<const Record> records, const std::optional<Roofline>& roofline) {
  Rival rival{tried};
  const auto best = std::ranges::find(records, tried.best_record, &Record::id);
  if (best == records.end() || !roofline) return rival;
  // A rival of another version may not apply any more; the figures of its trials stand.
  if (auto stages = bounds_of(*best, *roofline)) rival.stages = std::move(*stages);
  return rival;
}

}  // namespace

double Rival::bound_seconds() const {
  double sum = 0;
  for (const StageBound& stage : stages) sum += stage.seconds;
  return sum;
}

Result<Explanation> explain(std::span<const Record> records, const std::optional<Roofline>& roofline) {
  const std::vector<Tried> sketches = tried_sketches(records);
  if (sketches.empty() || !sketches.front().best_record) {
    return fail(ErrorKind::not_found, "no record of this task has a program that works");
  }
  Explanation explanation;
  explanation.best = *std::ranges::find(records, *sketches.front().best_record, &Record::id);
  LATHE_TRY(const Task task, replayed_task(explanation.best));
  LATHE_TRY(const Trace trace, replayed_trace(explanation.best));
  explanation.flops = static_cast<double>(flops_of(task.dag));
  for (const Step& step : trace) explanation.steps.push_back({subject_of(step), in_words(step)});
  for (const Tried& tried : sketches) explanation.sketches.push_back(rival_of(tried, records, roofline));
  explanation.failures = failures(records);
  const RecordedPoint& point = explanation.best.point;
  // Of a space that this version does not know the program can be told, but not what else it might have been.
  const Result<Space> space = derive_space(task, point.space);
  if (!space) return explanation;
  for (const Sketch& sketch : space->sketches()) {
    if (sketch.name == point.sketch) explanation.parameters = tried_values(records, point.space, sketch);
  }
  return explanation;
}

}  // namespace lathe
