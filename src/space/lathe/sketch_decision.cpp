#include "space/lathe/sketch_decision.h"

#include <algorithm>
#include <optional>

#include "expr/loop_counts.h"
#include "space/estimate.h"

namespace lathe {
namespace {

// Stages that another one is decided along with.
std::vector<bool> written_along(const Plan& plan, const std::map<size_t, Group>& groups) {
  const std::vector<Stage>& stages = plan.reduced.classified.stages;
  std::vector<bool> along(stages.size(), false);
  for (const Stage& stage : stages) {
    const bool takes_epilogue = stage.role != Role::pointwise && !plan.is_sum_in_lanes(stage.compute);
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

StageDecision decide_product_stage(Decider& decider, const Plan& plan, const Stage& stage,
                                   const std::map<size_t, Group>& groups) {
  const auto tile = plan.tiles.find(stage.compute);
  if (tile == plan.tiles.end()) return decide_reduction(decider, stage);
  if (plan.is_sum_in_lanes(stage.compute)) return decide_sum_in_lanes(decider, stage);
  const auto group = groups.find(stage.compute);
  if (group != groups.end()) return decide_group(decider, group->second, tile->second);
  return decide_product(decider, stage, tile->second);
}

// Nothing where a stage needs no steps of its own.
std::optional<StageDecision> decide_stage(Decider& decider, const Plan& plan, const Stage& stage,
                                          const std::map<size_t, Group>& groups) {
  const auto block = std::ranges::find(plan.rows, stage.compute, &RowBlock::last);
  if (block != plan.rows.end()) return decide_row_block(decider, *block, plan.tiles);
  switch (stage.role) {
    case Role::inlined:
    case Role::prepared: return std::nullopt;
    case Role::pointwise: return decide_pointwise(decider, stage);
    case Role::reduction: return decide_reduction(decider, stage);
    case Role::transform:
      return decide_chain(decider, chain_ending_at(plan.reduced.dag, plan.reduced.classified, stage.compute));
    case Role::product: return decide_product_stage(decider, plan, stage, groups);
  }
  return std::nullopt;
}

// An output that is in no cache any more when it is written again, and in a network when it is read, may be
// written past the caches, where what is moved takes longer than what is computed.
std::vector<std::string> decide_streams(Decider& decider) {
  const CpuTarget& target = decider.task.target.cpu();
  double points = 0;
  for (const Compute& compute : decider.dag.computes) points += points_of(compute);
  const auto bytes = static_cast<double>(bytes_of(decider.task.dag));
  if (points / decider.lanes() / target.fma_per_cycle > bytes / bytes_per_cycle(target, bytes, decider.costs))
    return {};
  std::vector<std::string> streamed;
  for (const Argument& argument : decider.task.arguments) {
    const Tensor& tensor = argument.tensor;
    const auto kept =
        decider.task.runs_cold ? static_cast<double>(tensor.elements() * bytes_of(tensor->dtype)) : bytes;
    if (!argument.is_output || kept < static_cast<double>(target.l3.bytes)) continue;
    const bool streams = decider.choose.choose_kind(tensor->name + ".stream", 2, 1) != 0;
    if (streams) streamed.push_back(tensor->name);
  }
  return streamed;
}

void write_stage(Writer& writer, const PointwiseDecision& decision) { write_pointwise(writer, decision); }
void write_stage(Writer& writer, const ReductionDecision& decision) { write_reduction(writer, decision); }
void write_stage(Writer& writer, const SumInLanesDecision& decision) { write_sum_in_lanes(writer, decision); }
void write_stage(Writer& writer, const ChainDecision& decision) { write_chain(writer, decision); }
void write_stage(Writer& writer, const ProductDecision& decision) { write_product(writer, decision); }
void write_stage(Writer& writer, const GroupDecision& decision) { write_group(writer, decision); }
void write_stage(Writer& writer, const RowBlockDecision& decision) { write_row_block(writer, decision); }

}  // namespace

Result<SketchDecision> decide_sketch(const Plan& plan, Chooser& chooser) {
  Decider decider{{plan.task, plan.reduced.dag, plan.reduced.classified, plan.costs}, chooser};
  const std::map<size_t, Group> groups = groups_of(plan);
  const std::vector<bool> along = written_along(plan, groups);
  const std::vector<Stage>& stages = plan.reduced.classified.stages;
  SketchDecision decision;
  for (size_t i = stages.size(); i-- > 0;) {
    if (along[i]) continue;
    if (auto stage = decide_stage(decider, plan, stages[i], groups))
      decision.stages.push_back(std::move(*stage));
  }
  decision.streamed = decide_streams(decider);
  if (decider.violation) return std::unexpected(*decider.violation);
  return decision;
}

Trace write_sketch(const Plan& plan, const SketchDecision& decision) {
  Writer writer{{plan.task, plan.reduced.dag, plan.reduced.classified, plan.costs}, plan.reduced.steps};
  for (const StageDecision& stage : decision.stages)
    std::visit([&](const auto& decided) { write_stage(writer, decided); }, stage);
  // What is prepared may be read by what is prepared.
  for (const Stage& stage : plan.reduced.classified.stages) {
    if (stage.role == Role::prepared) writer.add(PrepareStep{writer.compute(stage).output->name});
  }
  for (const std::string& output : decision.streamed) writer.add(StreamStep{output});
  return std::move(writer.trace);
}

}  // namespace lathe
