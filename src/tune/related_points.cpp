#include "tune/related_points.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "domain/choices.h"
#include "tune/kind_of.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

// A recorded task of the kind, and how far its sizes are: the sum of their ratios' logarithms.
struct Relative {
  TaskText task;
  double distance = 0;
};

double distance_of(const std::vector<double>& a, const std::vector<double>& b) {
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) distance += std::abs(std::log((a[i] + 1) / (b[i] + 1)));
  return distance;
}

Result<std::vector<Relative>> relatives_of(const Task& task, const RecordStore& records) {
  const TaskText own = text_of(task);
  const std::string kind = kind_of(task.dag);
  const std::vector<double> sizes = sizes_as_of_kind(own.dag, kind).value();
  LATHE_TRY(std::vector<TaskText> known, records.task_texts());
  std::vector<Relative> relatives;
  for (TaskText& other : known) {
    if (other.free_layouts != own.free_layouts) continue;
    const std::optional<std::vector<double>> theirs = sizes_as_of_kind(other.dag, kind);
    // Digits in a tensor's name are taken for a size too.
    if (!theirs || theirs->size() != sizes.size()) continue;
    relatives.push_back({std::move(other), distance_of(sizes, *theirs)});
  }
  std::ranges::stable_sort(relatives, {}, &Relative::distance);
  return relatives;
}

// The point of this space that is like a recorded one; none where it has no such sketch.
std::optional<Point> carried_over(const RecordedPoint& recorded, const Space& space) {
  const std::vector<Sketch>& sketches = space.sketches();
  const auto sketch = std::ranges::find(sketches, recorded.sketch, &Sketch::name);
  if (sketch == sketches.end() || recorded.choices.empty()) return std::nullopt;
  return Point{static_cast<int>(sketch - sketches.begin()),
               integers_like(sketch->domain, recorded.choices, sketch->preferred)};
}

}  // namespace

Result<std::vector<Point>> related_points(const Task& task, const Space& space, std::string_view space_name,
                                          const RecordStore& records, size_t most) {
  LATHE_TRY(const std::vector<Relative> relatives, relatives_of(task, records));
  std::vector<Point> points;
  for (const Relative& relative : relatives) {
    if (points.size() == most) break;
    RecordQuery query = records_of(task);
    query.task_hash = relative.task.hash;
    // What did well by another version of the compiler is worth a trial by this one.
    const std::optional<std::string> version = std::exchange(query.compiler_version, std::nullopt);
    LATHE_TRY(const std::optional<Record> best, records.best(query));
    if (!best || best->point.space != space_name) continue;
    const bool is_own = relative.task.hash == hash_of(task) && best->compiler_version == version;
    if (is_own) continue;
    const std::optional<Point> point = carried_over(best->point, space);
    const auto is_known = [&](const std::vector<Point>& among) {
      return std::ranges::find(among, *point) != among.end();
    };
    if (!point || is_known(points) || is_known(space.preferred_points()) || !space.trace(*point)) continue;
    points.push_back(*point);
  }
  return points;
}

}  // namespace lathe
