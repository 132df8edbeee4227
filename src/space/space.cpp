#include "space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "expr/analysis.h"
#include "rewrite/rewrite.h"
#include "space/classify.h"
#include "space/estimate.h"
#include "space/rules/rules.h"

namespace lathe {
namespace {

// A Dag without its inlined computes, the steps that took them out, and what is left.
struct Reduced {
  Dag dag;
  Trace steps;
  Classified classified;
};

Reduced take_out(const Task& task, Dag dag, Trace steps, const std::set<std::string>& stored = {}) {
  while (true) {
    Classified classified = classify(task, dag, stored);
    const auto inlined = std::ranges::find(classified.stages, Role::inlined, &Stage::role);
    if (inlined == classified.stages.end()) return {std::move(dag), std::move(steps), std::move(classified)};
    steps.emplace_back(InlineStep{dag.computes[inlined->compute].output->name});
    dag = inline_compute(dag, inlined->compute);
  }
}

// What a sketch is fixed to: the algorithm, the reduced Dag and, for each product, the axes of its tile.
struct Plan {
  std::string arm;
  Task task;
  Reduced reduced;
  std::map<size_t, TileAxes> tiles;
  std::vector<RowBlock> rows;  // stages that run together
};

// Whether the stage is a product that is written as sums in the lanes.
bool is_sum_in_lanes(const Plan& plan, size_t compute) {
  const auto tile = plan.tiles.find(compute);
  return tile != plan.tiles.end() && tile->second.runs_along_reduction(plan.reduced.dag.computes[compute]);
}

// Stages that another one writes along with itself.
std::vector<bool> written_along(const Plan& plan, const std::map<size_t, Group>& groups) {
  const std::vector<Stage>& stages = plan.reduced.classified.stages;
  std::vector<bool> along(stages.size(), false);
  for (const Stage& stage : stages) {
    const bool takes_epilogue = stage.role != Role::pointwise && !is_sum_in_lanes(plan, stage.compute);
    if (stage.epilogue && takes_epilogue) along[*stage.epilogue] = true;
    if (stage.role != Role::transform) continue;
    for (size_t member : chain_ending_at(plan.reduced.dag, plan.reduced.classified, stage.compute))
      along[member] = along[member] || member != stage.compute;
  }
  for (const auto& [product, group] : groups) {
    for (size_t member : group.consumer) along[member] = true;
    for (const Chain& chain : group.producers) along[chain.back()] = true;
  }
  for (const RowBlock& block : plan.rows) {
    for (const size_t member : block.members) along[member] = true;
  }
  return along;
}

Status write_stage(Writer& writer, const Plan& plan, const Stage& stage,
                   const std::map<size_t, Group>& groups) {
  const auto block = std::ranges::find(plan.rows, stage.compute, &RowBlock::last);
  if (block != plan.rows.end()) return write_row_block(writer, *block, plan.tiles);
  switch (stage.role) {
    case Role::inlined:
    case Role::prepared: return {};
    case Role::pointwise: return write_pointwise(writer, stage);
    case Role::reduction: return write_reduction(writer, stage);
    case Role::transform:
      return write_chain(writer, chain_ending_at(plan.reduced.dag, plan.reduced.classified, stage.compute));
    case Role::product: {
      const auto tile = plan.tiles.find(stage.compute);
      if (tile == plan.tiles.end()) return write_reduction(writer, stage);
      if (is_sum_in_lanes(plan, stage.compute)) return write_sum_in_lanes(writer, stage);
      const auto group = groups.find(stage.compute);
      return group == groups.end() ? write_product(writer, stage, tile->second)
                                   : write_group(writer, group->second, tile->second);
    }
  }
  return {};
}

// A group is written around a product whose tile has rows along the common axis and vectors along one that
// the operands from the chains do not have.
std::map<size_t, Group> groups_of(const Plan& plan) {
  std::map<size_t, Group> groups;
  for (const auto& [product, tile] : plan.tiles) {
    const auto group = group_around(plan.reduced.dag, plan.reduced.classified, product);
    if (!group || group->axis.at(product) != tile.rows) continue;
    const bool panels_are_ready = std::ranges::none_of(group->producers, [&](const Chain& chain) {
      const Stage& stage = plan.reduced.classified.of(product);
      return axis_of_producer(plan.reduced.dag, stage, tile.vector, chain.back()).has_value();
    });
    if (panels_are_ready) groups.emplace(product, *group);
  }
  return groups;
}

// An output that is in no cache any more when it is written again, and in a network when it is read, may be
// written past the caches, where what is moved takes longer than what is computed.
void choose_streams(Writer& writer) {
  const CpuTarget& target = writer.cpu();
  double points = 0;
  for (const Compute& compute : writer.dag.computes) points += points_of(compute);
  const auto bytes = static_cast<double>(bytes_of(writer.task.dag));
  if (points / writer.lanes() / target.fma_per_cycle > bytes / bytes_per_cycle(target, bytes)) return;
  for (const Argument& argument : writer.task.arguments) {
    const Tensor& tensor = argument.tensor;
    const auto kept =
        writer.task.runs_cold ? static_cast<double>(tensor.elements() * bytes_of(tensor->dtype)) : bytes;
    if (!argument.is_output || kept < static_cast<double>(target.l3.bytes)) continue;
    const bool streams = writer.choose.choose_kind(tensor->name + ".stream", 2, 1) != 0;
    if (streams) writer.add(StreamStep{tensor->name});
  }
}

Result<Trace> write_sketch(const Plan& plan, Chooser& chooser) {
  Writer writer{plan.task, plan.reduced.dag, plan.reduced.classified, chooser, plan.reduced.steps, {}, {},
                {}};
  const std::map<size_t, Group> groups = groups_of(plan);
  const std::vector<bool> along = written_along(plan, groups);
  const std::vector<Stage>& stages = plan.reduced.classified.stages;
  for (size_t i = stages.size(); i-- > 0;) {
    if (!along[i]) LATHE_TRY_STATUS(write_stage(writer, plan, stages[i], groups));
  }
  // What is prepared may be read by what is prepared.
  for (const Stage& stage : stages) {
    if (stage.role == Role::prepared) writer.add(PrepareStep{writer.compute(stage).output->name});
  }
  choose_streams(writer);
  if (writer.violation) return std::unexpected(*writer.violation);
  return writer.trace;
}

std::string tile_name(const Compute& compute, const TileAxes& tile) {
  std::string name = fmt::format("{} vector={}", compute.output->name, compute.axes[tile.vector].var.name());
  if (tile.rows) name += fmt::format(" rows={}", compute.axes[*tile.rows].var.name());
  return name;
}

// Whether the block's last stage is written by a product of it, and so cannot have the others inside.
bool ends_in_epilogue(const RowBlock& block, const Classified& classified) {
  return std::ranges::any_of(block.members, [&](size_t member) {
    const Stage& stage = classified.of(member);
    return member != block.last && stage.role == Role::product && stage.epilogue == block.last;
  });
}

// The plans in which stages that share rows run together, where there are such stages, and then all plans.
std::vector<Plan> with_row_blocks(const std::vector<Plan>& plans) {
  std::vector<Plan> result;
  for (const Plan& plan : plans) {
    const auto is_in_lanes = [&](const auto& entry) { return is_sum_in_lanes(plan, entry.first); };
    if (std::ranges::any_of(plan.tiles, is_in_lanes)) continue;
    std::vector<RowBlock> blocks = row_blocks_of(plan.reduced.dag, plan.reduced.classified);
    std::erase_if(blocks, [&](const RowBlock& block) {
      return !rows_of_block(block, plan.tiles) || ends_in_epilogue(block, plan.reduced.classified);
    });
    if (blocks.empty()) continue;
    result.push_back(plan);
    result.back().arm += " in rows";
    result.back().rows = std::move(blocks);
  }
  result.insert(result.end(), plans.begin(), plans.end());
  return result;
}

// Choices of tile axes for every product, the first choices first, at most `most` a product and 16 in all,
// and as many again where stages run in rows.
std::vector<Plan> plans_of(const Task& task, const std::string& arm, const Reduced& reduced, size_t most) {
  constexpr size_t kMostSketches = 16;
  std::vector<Plan> plans = {{arm, task, reduced, {}, {}}};
  for (const Stage& stage : reduced.classified.stages) {
    if (stage.role != Role::product) continue;
    auto candidates = tile_candidates(task, reduced.dag.computes[stage.compute], stage);
    if (candidates.empty()) continue;
    if (candidates.size() > most) candidates.resize(most);
    std::vector<Plan> extended;
    for (const TileAxes& tile : candidates) {
      for (const Plan& plan : plans) {
        if (extended.size() == kMostSketches) break;  // the choices of many products are too many to list
        extended.push_back(plan);
        extended.back().tiles.emplace(stage.compute, tile);
      }
    }
    plans = std::move(extended);
  }
  return with_row_blocks(plans);
}

Sketch make_sketch(const Plan& plan) {
  constexpr int kMostAlternatives = 2;
  Sketch sketch;
  sketch.name = plan.arm;
  for (const auto& [compute, tile] : plan.tiles)
    sketch.name += " " + tile_name(plan.reduced.dag.computes[compute], tile);
  sketch.write = [plan](Chooser& chooser) { return write_sketch(plan, chooser); };
  Chooser declaring;
  const Result<Trace> trace = sketch.write(declaring);
  sketch.domain = declaring.domain();
  sketch.preferred = declaring.preferred();
  for (int alternative = 1; alternative <= kMostAlternatives; ++alternative) {
    Chooser preferring(alternative);
    static_cast<void>(sketch.write(preferring));
    const std::vector<int64_t>& other = preferring.preferred();
    const bool is_known = other == sketch.preferred ||
                          std::ranges::find(sketch.alternatives, other) != sketch.alternatives.end();
    if (!is_known) sketch.alternatives.push_back(other);
  }
  sketch.cycles = estimated_cycles(plan.task, plan.reduced.dag, plan.reduced.classified, plan.tiles);
  sketch.operations = least_operations(plan.reduced.dag, plan.reduced.classified);
  return sketch;
}

// A Dag rewritten by rules, one after another, and how it came about.
struct Rewritten {
  Dag dag;
  Trace steps;
  std::string arm;
  std::set<std::string> stored;  // names of computes that are to be stages of their own
};

Result<Rewritten> rewritten_by(const Rewritten& before, const RewriteRule& rule, const RewriteStep& step) {
  Rewritten after = before;
  LATHE_TRY(after.dag, rewrite(before.dag, step.rule, step.stage, step.parameters));
  after.steps.emplace_back(step);
  after.arm += (after.arm.empty() ? "" : " ") + step.rule;
  for (const auto& [key, value] : step.parameters) after.arm += fmt::format(" {}={}", key, value);
  for (const std::string& suffix : rule.stored) after.stored.insert(step.stage + suffix);
  return after;
}

// The sketches of a rewritten Dag, with the most promising tile only: an arm that loses costs few trials.
void add_sketches(const Task& task, const Rewritten& rewritten, std::vector<Sketch>& sketches) {
  const Reduced reduced = take_out(task, rewritten.dag, rewritten.steps, rewritten.stored);
  for (const Plan& plan : plans_of(task, rewritten.arm, reduced, 1)) sketches.push_back(make_sketch(plan));
}

// The sums that a rule has made of a stage: those computes are named after it.
std::vector<std::string> new_sums(const Dag& before, const Dag& after) {
  std::vector<std::string> names;
  for (const Compute& compute : after.computes) {
    const bool was_there =
        std::ranges::any_of(before.computes, [&](const Compute& c) { return c.output == compute.output; });
    if (!was_there && compute.reduction == Reduction::sum) names.push_back(compute.output->name);
  }
  return names;
}

bool may_use(const Task& task, const RewriteRule& rule) {
  return task.algorithm != kExactSpecials || !rule.spreads_specials;
}

// Every way in which a rule applies to a stage, and what may follow it.
void add_algorithm(const Task& task, const Rewritten& before, const RewriteRule& rule,
                   const std::string& stage, std::vector<Sketch>& sketches) {
  for (const RewriteParameters& parameters : rule.choices(before.dag, stage)) {
    // A rule that does not apply adds nothing.
    const auto after = rewritten_by(before, rule, {rule.name, stage, parameters});
    if (!after) continue;
    add_sketches(task, *after, sketches);
    for (const RewriteRule& next : rewrite_rules()) {
      if (!may_use(task, next)) continue;
      if (std::ranges::find(rule.followed_by, next.name) == rule.followed_by.end()) continue;
      for (const std::string& sum : new_sums(before.dag, after->dag))
        add_algorithm(task, *after, next, sum, sketches);
    }
  }
}

// The Dag after the rules that are always better, which no arm is named after.
Rewritten without_waste(const Task& task) {
  Rewritten base{task.dag, {}, {}, {}};
  for (const RewriteRule& rule : rewrite_rules()) {
    if (!rule.is_always_better) continue;
    for (const Compute& compute : task.dag.computes) {
      if (auto better = rewritten_by(base, rule, {rule.name, compute.output->name, {}}))
        base = std::move(*better);
    }
  }
  base.arm.clear();
  return base;
}

// Every algorithm that a rule of src/rewrite knows for a compute of the Dag.
void add_algorithms(const Task& task, const Rewritten& base, std::vector<Sketch>& sketches) {
  for (const RewriteRule& rule : rewrite_rules()) {
    if (rule.is_always_better || !may_use(task, rule)) continue;
    for (const Compute& compute : base.dag.computes)
      add_algorithm(task, base, rule, compute.output->name, sketches);
  }
}

// The sketches of the algorithm that the task requires; gives the first rewrite by it.
Result<RewriteStep> add_required(const Task& task, const Rewritten& base, std::vector<Sketch>& sketches) {
  std::optional<RewriteStep> first;
  std::string reason = fmt::format("there is no rewrite rule '{}'", task.algorithm);
  bool has_reason = false;
  for (const RewriteRule& rule : rewrite_rules()) {
    if (rule.name != task.algorithm) continue;
    for (const Compute& compute : base.dag.computes) {
      std::vector<RewriteParameters> choices = rule.choices(base.dag, compute.output->name);
      if (choices.empty()) choices.emplace_back();  // to learn why
      for (const RewriteParameters& parameters : choices) {
        RewriteStep step{rule.name, compute.output->name, parameters};
        const auto after = rewritten_by(base, rule, step);
        if (after) add_sketches(task, *after, sketches);
        if (after && !first) first = std::move(step);
        if (after || has_reason) continue;
        // Of a compute that reduces: what pads its input is no candidate.
        reason = after.error().message;
        has_reason = compute.reduction != Reduction::none;
      }
    }
  }
  if (first) return std::move(*first);
  return fail(ErrorKind::unsupported,
              fmt::format("the task is to be computed by the algorithm '{}': {}", task.algorithm, reason));
}

// A way that multiplies mostly zeros would run into the time limit in every trial.
void leave_out_hopeless(std::vector<Sketch>& sketches) {
  constexpr double kHopeless = 50;
  const double least = std::ranges::min(sketches, {}, &Sketch::cycles).cycles;
  std::erase_if(sketches, [&](const Sketch& sketch) { return sketch.cycles > kHopeless * least; });
}

}  // namespace

Result<Space> Space::derive(const Task& task) {
  if (!std::holds_alternative<CpuTarget>(task.target.kind)) {
    return fail(ErrorKind::unsupported,
                fmt::format("no space of programs is known for the target '{}'", task.target.name));
  }
  Space space;
  const Rewritten base = without_waste(task);
  if (!task.algorithm.empty() && task.algorithm != kExactSpecials) {
    LATHE_TRY(RewriteStep step, add_required(task, base, space.sketches_));
    space.naive_.emplace_back(std::move(step));
    return space;
  }
  const Reduced reduced = take_out(task, base.dag, base.steps);
  constexpr size_t kTilesOfDirect = 3;
  for (const Plan& plan : plans_of(task, "direct", reduced, kTilesOfDirect))
    space.sketches_.push_back(make_sketch(plan));
  const double direct = space.sketches_.front().cycles;
  add_algorithms(task, base, space.sketches_);
  leave_out_hopeless(space.sketches_);
  // What moves between the parts of an algorithm is not counted.
  constexpr double kClearGain = 0.8;
  for (Sketch& sketch : space.sketches_) {
    if (sketch.cycles > kClearGain * direct) sketch.cycles = std::max(sketch.cycles, direct);
  }
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
  constexpr size_t kFirst = 3;  // sketches that come before alternatives, and whose alternatives come at all
  std::vector<const Sketch*> order;
  for (const Sketch& sketch : sketches_) order.push_back(&sketch);
  std::ranges::stable_sort(order, {}, &Sketch::cycles);
  std::vector<Point> points;
  const auto add = [&](const Sketch* sketch, const std::vector<int64_t>& integers) {
    Point point{static_cast<int>(sketch - sketches_.data()), integers};
    if (!violation(point)) points.push_back(std::move(point));
  };
  for (size_t i = 0; i < order.size(); ++i) {
    add(order[i], order[i]->preferred);
    if (i + 1 != std::min(kFirst, order.size())) continue;
    for (size_t first = 0; first <= i; ++first) {
      for (const std::vector<int64_t>& integers : order[first]->alternatives) add(order[first], integers);
    }
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
