#include "space/lathe/derive_lathe.h"

#include <algorithm>
#include <iterator>

#include "space/estimate.h"
#include "space/lathe/arms.h"
#include "space/lathe/sketch_decision.h"

namespace lathe {
namespace {

double estimated_cycles(const Plan& plan) {
  const auto& [dag, steps, classified] = plan.reduced;
  double cycles = estimated_cycles(plan.task, dag, classified, plan.tiles, plan.costs);
  for (const RowBlock& block : plan.rows)
    cycles += cycles_between_in_rows(plan.task, dag, classified, block, plan.tiles, plan.costs);
  for (const RowBlock& block : plan.apart) cycles += cycles_between_apart(plan.task, dag, block, plan.costs);
  return cycles;
}

Sketch sketch_of(const Plan& plan) {
  const Reduced& reduced = plan.reduced;
  const auto write = [plan](Chooser& chooser) -> Result<Trace> {
    LATHE_TRY(const SketchDecision decision, decide_sketch(plan, chooser));
    return write_sketch(plan, decision);
  };
  Sketch sketch = declared_sketch(plan.name(), write);
  sketch.operations = least_operations(reduced.dag, reduced.classified);
  sketch.cycles = estimated_cycles(plan);
  return sketch;
}

// A way that multiplies mostly zeros would run into the time limit in every trial.
void leave_out_hopeless(std::vector<Sketch>& sketches, const CostConstants& costs) {
  const double least = std::ranges::min(sketches, {}, &Sketch::cycles).cycles;
  std::erase_if(sketches, [&](const Sketch& sketch) { return sketch.cycles > costs.hopeless * least; });
}

// Those that take no clearly smaller share of the first direct program's cycles do not go before it: an
// estimate errs by as much.
void hold_back(std::vector<Sketch>& sketches, double clear_share, double direct) {
  for (Sketch& sketch : sketches) {
    if (sketch.cycles > clear_share * direct) sketch.cycles = std::max(sketch.cycles, direct);
  }
}

// What the model finds about as good as its choice in the sketch, none twice.
std::vector<std::vector<int64_t>> alternatives_of(const Sketch& sketch, const CostConstants& costs) {
  std::vector<std::vector<int64_t>> found;
  for (int alternative = 1; alternative <= whole(costs.alternatives); ++alternative) {
    Chooser preferring(alternative);
    static_cast<void>(sketch.write(preferring));
    const std::vector<int64_t>& other = preferring.preferred();
    if (other != sketch.preferred && std::ranges::find(found, other) == found.end()) found.push_back(other);
  }
  return found;
}

bool may_be_tried(const Sketch& sketch, const std::vector<int64_t>& integers) {
  Chooser replaying(sketch.domain, integers);
  return check(sketch.domain, integers) && sketch.write(replaying);
}

std::vector<Point> points_to_begin_with(const std::vector<Sketch>& sketches, const CostConstants& costs) {
  std::vector<const Sketch*> order;
  for (const Sketch& sketch : sketches) order.push_back(&sketch);
  std::ranges::stable_sort(order, {}, &Sketch::cycles);
  std::vector<Point> points;
  const auto add = [&](const Sketch* sketch, const std::vector<int64_t>& integers) {
    if (may_be_tried(*sketch, integers))
      points.push_back({static_cast<int>(sketch - sketches.data()), integers});
  };
  for (size_t i = 0; i < order.size(); ++i) {
    add(order[i], order[i]->preferred);
    // Sketches that come before alternatives, and whose alternatives come at all.
    const int64_t before = std::min<int64_t>(whole(costs.first_sketches), std::ssize(order));
    if (static_cast<int64_t>(i) + 1 != before) continue;
    for (size_t first = 0; first <= i; ++first) {
      for (const auto& integers : alternatives_of(*order[first], costs)) add(order[first], integers);
    }
  }
  return points;
}

Space space_of(std::vector<Sketch> sketches, const CostConstants& costs, Trace naive) {
  std::vector<Point> first = points_to_begin_with(sketches, costs);
  return {std::move(sketches), std::move(first), std::move(naive)};
}

}  // namespace

Result<Space> derive_lathe(const Task& task, const CostConstants& costs) {
  std::vector<Sketch> sketches;
  const auto add = [&](const std::vector<Plan>& plans) {
    for (const Plan& plan : plans) sketches.push_back(sketch_of(plan));
  };
  if (!task.algorithm.empty() && task.algorithm != kExactSpecials) {
    LATHE_TRY(RequiredPlans required, required_plans(task, costs));
    add(required.plans);
    return space_of(std::move(sketches), costs, {std::move(required.rewrite)});
  }
  add(direct_plans(task, costs));
  const double direct = sketches.front().cycles;
  hold_back(sketches, costs.clear_gain, direct);
  std::vector<Sketch> algorithms;
  for (const Plan& plan : algorithm_plans(task, costs)) algorithms.push_back(sketch_of(plan));
  hold_back(algorithms, costs.clear_algorithm, direct);
  std::ranges::move(algorithms, std::back_inserter(sketches));
  leave_out_hopeless(sketches, costs);
  return space_of(std::move(sketches), costs, {});
}

}  // namespace lathe
