#include "space/lathe/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "space/rules/row_block.h"

namespace lathe {
namespace {

std::string tile_name(const Compute& compute, const TileAxes& tile) {
  std::string name = fmt::format("{} vector={}", compute.output->name, compute.axes[tile.vector].var.name());
  if (tile.rows) name += fmt::format(" rows={}", compute.axes[*tile.rows].var.name());
  return name;
}

// The loops of a block's last stage hold all others: a product of the block does not take it along.
void keep_last_stages(const std::vector<RowBlock>& blocks, Classified& classified) {
  for (const RowBlock& block : blocks) {
    for (const size_t member : block.members) {
      Stage& stage = classified.stages[member];
      if (stage.epilogue == block.last) stage.epilogue.reset();
    }
  }
}

// The plans in which stages that share rows run together, where there are such stages, and then all plans.
std::vector<Plan> with_row_blocks(const std::vector<Plan>& plans) {
  std::vector<Plan> result;
  std::vector<Plan> apart = plans;
  for (Plan& plan : apart) {
    const auto is_in_lanes = [&](const auto& entry) { return plan.is_sum_in_lanes(entry.first); };
    if (std::ranges::any_of(plan.tiles, is_in_lanes)) continue;
    std::vector<RowBlock> blocks = row_blocks_of(plan.reduced.dag, plan.reduced.classified);
    plan.apart = blocks;
    std::erase_if(blocks, [&](const RowBlock& block) { return !rows_of_block(block, plan.tiles); });
    if (blocks.empty()) continue;
    result.push_back(plan);
    Plan& together = result.back();
    together.arm += " in rows";
    std::erase_if(together.apart, [&](const RowBlock& block) {
      return std::ranges::find(blocks, block.last, &RowBlock::last) != blocks.end();
    });
    keep_last_stages(blocks, together.reduced.classified);
    together.rows = std::move(blocks);
  }
  result.insert(result.end(), apart.begin(), apart.end());
  return result;
}

}  // namespace

Reduced take_out_inlined(const Task& task, Dag dag, Trace steps, const std::set<std::string>& stored,
                         const CostConstants& costs) {
  while (const std::optional<size_t> inlined = first_inlined(task, dag, stored, costs)) {
    steps.emplace_back(InlineStep{dag.computes[*inlined].output->name});
    dag = inline_compute(dag, *inlined);
  }
  Classified classified = classify(task, dag, stored, costs);
  return {std::move(dag), std::move(steps), std::move(classified)};
}

bool Plan::is_sum_in_lanes(size_t compute) const {
  const auto tile = tiles.find(compute);
  return tile != tiles.end() && tile->second.runs_along_reduction(reduced.dag.computes[compute]);
}

std::string Plan::name() const {
  std::string name = arm;
  for (const auto& [compute, tile] : tiles) name += " " + tile_name(reduced.dag.computes[compute], tile);
  return name;
}

std::vector<Plan> plans_of(const Task& task, const std::string& arm, const Reduced& reduced, int64_t most,
                           const CostConstants& costs) {
  std::vector<Plan> plans = {{arm, task, costs, reduced, {}, {}, {}}};
  for (const Stage& stage : reduced.classified.stages) {
    if (stage.role != Role::product) continue;
    auto candidates = tile_candidates(task, reduced.dag, reduced.dag.computes[stage.compute], stage, costs);
    if (candidates.empty()) continue;
    if (std::ssize(candidates) > most) candidates.resize(static_cast<size_t>(most));
    std::vector<Plan> extended;
    for (const TileAxes& tile : candidates) {
      for (const Plan& plan : plans) {
        if (std::ssize(extended) == whole(costs.most_sketches))
          break;  // the choices of many products are too many to list
        extended.push_back(plan);
        extended.back().tiles.emplace(stage.compute, tile);
      }
    }
    plans = std::move(extended);
  }
  return with_row_blocks(plans);
}

}  // namespace lathe
