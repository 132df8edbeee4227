#include "session/commands/table_ground.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "domain/choices.h"
#include "space/all.h"
#include "target/target.h"

namespace lathe {
namespace {

Result<Target> target_of(const MeasuredTable& table) {
  LATHE_TRY(Target target, parse_target(table.target));
  if (!std::holds_alternative<CpuTarget>(target.kind))
    return fail(ErrorKind::unsupported, "tables are of processors");
  return target;
}

std::unexpected<Error> gone(std::string what) { return fail(ErrorKind::not_found, std::move(what)); }

// The point of the table's sketch in the whole space.
Result<Point> whole_point_of(const Space& space, const MeasuredTable& table, const Point& point) {
  const TableSketch& own = table.sketches[static_cast<size_t>(point.sketch)];
  const std::vector<Sketch>& sketches = space.sketches();
  const auto sketch = std::ranges::find(sketches, own.name, &Sketch::name);
  if (sketch == sketches.end())
    return gone(fmt::format("the space '{}' has no sketch '{}'", table.space, own.name));
  const std::vector<Parameter>& known = sketch->domain.parameters;
  Choices choices = choices_of(own.domain, point.integers);
  choices.insert(own.fixed.begin(), own.fixed.end());
  for (const auto& [name, values] : choices) {
    if (std::ranges::find(known, name, &Parameter::name) == known.end())
      return gone(fmt::format("sketch '{}' has no choice '{}'", own.name, name));
  }
  auto integers = integers_of(sketch->domain, choices, sketch->preferred);
  if (!integers) return gone(fmt::format("a choice of sketch '{}' no longer has all its values", own.name));
  return Point{static_cast<int>(sketch - sketches.begin()), std::move(*integers)};
}

}  // namespace

TableGround::TableGround(MeasuredTable table, std::shared_ptr<const Task> task, Space space)
    : table_(std::move(table)), index_(table_), task_(std::move(task)), space_(std::move(space)) {}

Result<TableGround> TableGround::create(MeasuredTable table) {
  LATHE_TRY(const Target target, target_of(table));
  LATHE_TRY(Task task, task_of(table.task, target));
  LATHE_TRY(Space space, derive_space(task, table.space));
  TableGround ground(std::move(table), std::make_shared<const Task>(std::move(task)), std::move(space));
  LATHE_TRY_STATUS(ground.find_points());
  return ground;
}

Status TableGround::find_points() {
  for (const Point& point : index_.points()) {
    LATHE_TRY(Point whole, whole_point_of(space_, table_, point));
    whole_.push_back(std::move(whole));
  }
  return {};
}

// The space has been derived from the task before.
Candidates& TableGround::candidates_of(FeatureKind kind) {
  const auto known = candidates_.find(kind);
  if (known != candidates_.end()) return known->second;
  Result<Candidates> made = Candidates::create(task_, table_.space, kind);
  LATHE_CHECK(made.has_value());
  return candidates_.emplace(kind, std::move(*made)).first->second;
}

const std::optional<FeatureRows>& TableGround::features(FeatureKind kind, const Point& point) {
  constexpr size_t kAskedWithProgramsKept = 1024;
  Candidates& candidates = candidates_of(kind);
  if (++asked_ % kAskedWithProgramsKept == 0) candidates.end_round();
  return candidates.features(whole_[*index_.place_of(point)]);
}

}  // namespace lathe
