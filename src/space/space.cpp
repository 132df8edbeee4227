#include "space/space.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/rewrite.h"
#include "space/classify.h"
#include "space/rules/rules.h"

namespace lathe {
namespace {

// A Dag without its inlined and prepared computes, and the steps that took them out.
struct Reduced {
  Dag dag;
  Trace steps;
};

Reduced take_out(const Task& task, Dag dag, Trace steps) {
  for (bool changed = true; changed;) {
    changed = false;
    const Classified classified = classify(task, dag);
    for (const Stage& stage : classified.stages) {
      if (stage.role != Role::inlined) continue;
      steps.emplace_back(InlineStep{dag.computes[stage.compute].output->name});
      dag = inline_compute(dag, stage.compute);
      changed = true;
      break;
    }
  }
  return {std::move(dag), std::move(steps)};
}

// What a sketch is fixed to: the reduced Dag and, for each product, the axes of its tile.
struct Plan {
  Task task;
  Reduced reduced;
  Classified classified;
  std::map<size_t, TileAxes> tiles;
};

Status write_stage(Writer& writer, const Plan& plan, const Stage& stage) {
  switch (stage.role) {
    case Role::inlined: return {};
    case Role::prepared: writer.add(PrepareStep{writer.compute(stage).output->name}); return {};
    case Role::pointwise: return write_pointwise(writer, stage);
    case Role::reduction: return write_reduction(writer, stage);
    case Role::product: {
      const auto tile = plan.tiles.find(stage.compute);
      return tile == plan.tiles.end() ? write_reduction(writer, stage)
                                      : write_product(writer, stage, tile->second);
    }
  }
  return {};
}

Result<Trace> write_sketch(const Plan& plan, Chooser& chooser) {
  Writer writer{plan.task, plan.reduced.dag, plan.classified, chooser, plan.reduced.steps, {}, {}};
  std::vector<bool> fused(plan.classified.stages.size(), false);
  for (const Stage& stage : plan.classified.stages) {
    if (stage.epilogue && stage.role != Role::pointwise) fused[*stage.epilogue] = true;
  }
  for (size_t i = plan.classified.stages.size(); i-- > 0;) {
    if (fused[i]) continue;
    LATHE_TRY_STATUS(write_stage(writer, plan, plan.classified.stages[i]));
  }
  if (writer.violation) return std::unexpected(*writer.violation);
  return writer.trace;
}

std::string tile_name(const Compute& compute, const TileAxes& tile) {
  std::string name = fmt::format("{} vector={}", compute.output->name, compute.axes[tile.vector].var.name());
  if (tile.rows) name += fmt::format(" rows={}", compute.axes[*tile.rows].var.name());
  return name;
}

// Every choice of tile axes for every product, the first choices first.
std::vector<Plan> plans_of(const Task& task, const Reduced& reduced) {
  const Classified classified = classify(task, reduced.dag);
  std::vector<Plan> plans = {{task, reduced, classified, {}}};
  for (const Stage& stage : classified.stages) {
    if (stage.role != Role::product) continue;
    const auto candidates = tile_candidates(task, reduced.dag.computes[stage.compute], stage);
    if (candidates.empty()) continue;
    std::vector<Plan> extended;
    for (const TileAxes& tile : candidates) {
      for (Plan plan : plans) {
        plan.tiles.emplace(stage.compute, tile);
        extended.push_back(std::move(plan));
      }
    }
    plans = std::move(extended);
  }
  constexpr size_t kMostSketches = 16;
  if (plans.size() > kMostSketches) plans.resize(kMostSketches);
  return plans;
}

Sketch make_sketch(const Plan& plan) {
  Sketch sketch;
  sketch.name = "direct";
  for (const auto& [compute, tile] : plan.tiles)
    sketch.name += " " + tile_name(plan.reduced.dag.computes[compute], tile);
  sketch.write = [plan](Chooser& chooser) { return write_sketch(plan, chooser); };
  Chooser declaring;
  const Result<Trace> trace = sketch.write(declaring);
  sketch.domain = declaring.domain();
  sketch.preferred = declaring.preferred();
  return sketch;
}

}  // namespace

Result<Space> Space::derive(const Task& task) {
  Space space;
  const Reduced reduced = take_out(task, task.dag, {});
  for (const Plan& plan : plans_of(task, reduced)) space.sketches_.push_back(make_sketch(plan));
  return space;
}

Result<Trace> Space::trace(const Point& point) const {
  if (point.sketch < 0 || static_cast<size_t>(point.sketch) >= sketches_.size()) {
    return fail(ErrorKind::invalid_argument, fmt::format("there is no sketch {}", point.sketch));
  }
  const Sketch& sketch = sketches_[static_cast<size_t>(point.sketch)];
  LATHE_TRY_STATUS(check(sketch.domain, point.integers));
  Chooser replaying(point.integers);
  return sketch.write(replaying);
}

std::optional<std::string> Space::violation(const Point& point) const {
  const Result<Trace> written = trace(point);
  if (written) return std::nullopt;
  return written.error().message;
}

std::vector<Point> Space::preferred_points() const {
  std::vector<Point> points;
  for (size_t i = 0; i < sketches_.size(); ++i) {
    Point point{static_cast<int>(i), sketches_[i].preferred};
    if (!violation(point)) points.push_back(std::move(point));
  }
  return points;
}

int64_t Space::size() const {
  int64_t total = 0;
  for (const Sketch& sketch : sketches_) {
    const int64_t size = sketch.domain.size();
    if (size > INT64_MAX - total) return INT64_MAX;
    total += size;
  }
  return total;
}

}  // namespace lathe
