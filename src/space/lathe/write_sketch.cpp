#include "space/lathe/write_sketch.h"

#include <algorithm>

#include "expr/analysis.h"
#include "space/estimate.h"

namespace lathe {
namespace {

// Stages that another one writes along with itself.
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
      if (plan.is_sum_in_lanes(stage.compute)) return write_sum_in_lanes(writer, stage);
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

}  // namespace

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

}  // namespace lathe
