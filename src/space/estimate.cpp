#include "space/estimate.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "expr/loop_counts.h"
#include "expr/nonzero.h"
#include "expr/walk.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

double bytes_in(const Tensor& tensor) {
  return static_cast<double>(tensor.elements()) * static_cast<double>(bytes_of(tensor->dtype));
}

double fetch_cycles(const Task& task, const Tensor& tensor, const CostConstants& costs) {
  const double bytes = bytes_in(tensor);
  if (bytes <= static_cast<double>(task.target.cpu().l2.bytes)) return 0;
  return bytes / bytes_per_cycle(task.target.cpu(), bytes, costs);
}

// What lies in memory however small it is.
double cold_cycles(const Tensor& tensor, const CostConstants& costs) {
  return bytes_in(tensor) / costs.cold_bytes_per_cycle;
}

// What a stage reads of constants.
double constant_cycles(const Task& task, const Compute& compute, const Stage& stage,
                       const CostConstants& costs) {
  double cycles = 0;
  for (const Operand& operand : stage.operands) {
    if (!operand.is_constant && !operand.is_prepared) continue;
    const Tensor& tensor = operand.load->tensor;
    // Of a table that some places are picked from no more than these.
    const double share = std::min(1.0, points_of(compute) / static_cast<double>(tensor.elements()));
    cycles += share * (task.runs_cold ? cold_cycles(tensor, costs) : fetch_cycles(task, tensor, costs));
  }
  return cycles;
}

struct Sampled {
  double share = 1;
  double deviation = 0;  // standard
};

// How many of a sum's iterations add something, as far as loops around the tile can tell, by a sample of
// them.
Sampled needed_share(const Dag& dag, const Compute& compute, const TileAxes* tile, int64_t sampled) {
  std::vector<Limit> limits = where_nonzero(dag, compute.body);
  const auto is_in_tile = [&](const Limit& limit) {
    const auto uses = [&](size_t axis) { return limit.value.uses(compute.axes[axis].var); };
    return tile != nullptr && (uses(tile->vector) || (tile->rows && uses(*tile->rows)));
  };
  std::erase_if(limits, is_in_tile);
  if (limits.empty()) return {};
  Rng rng(1);
  int64_t needed = 0;
  for (int64_t n = 0; n < sampled; ++n) {
    Substitution place;
    for (const Axis& axis : compute.axes)
      place.emplace_back(axis.var, Affine(rng.between(0, axis.extent - 1)));
    needed += std::ranges::all_of(limits, [&](const Limit& limit) {
      const Affine value = substitute(limit.value, place);
      return !value.is_constant() || value.constant() < limit.bound;
    });
  }
  const auto number = static_cast<double>(sampled);
  const double share = static_cast<double>(needed) / number;
  return {share, std::sqrt(share * (1 - share) / number)};
}

double product_cycles(const Task& task, const Dag& dag, const Stage& stage, const TileAxes* tile,
                      const CostConstants& costs) {
  const CpuTarget& target = task.target.cpu();
  const Compute& compute = dag.computes[stage.compute];
  constexpr int64_t kSampled = 256;
  const double share = std::max(needed_share(dag, compute, tile, kSampled).share, 1.0 / kSampled);
  const double points = points_of(compute) * share;
  if (tile == nullptr) return points / target.fma_per_cycle;
  // A vector takes its time however few of its lanes are filled.
  const int64_t extent = compute.axes[tile->vector].extent;
  const double vectors =
      points / static_cast<double>(extent) * static_cast<double>(ceil_div(extent, stage.lanes));
  constexpr double kLoadsPerCycle = 2;
  const double gathered = gathered_loads(task, dag, compute, stage, *tile, costs) / kLoadsPerCycle;
  const double scattered = scattered_stores(task, dag, compute, stage, *tile);
  // Without rows two loads for each multiply-add.
  return vectors * ((tile->rows ? 1.0 / target.fma_per_cycle : 1.0) + gathered + scattered);
}

// Of a transform's table, unrolled, the entries that are 0 vanish.
double share_of_nonzero_entries(const Compute& compute) {
  for (const Load* load : loads_of(compute.body)) {
    const std::vector<double>& table = load->tensor->literal;
    if (table.empty()) continue;
    const auto zeros = static_cast<double>(std::ranges::count(table, 0.0));
    return 1 - zeros / static_cast<double>(table.size());
  }
  return 1;
}

// Whether a transform gathers one by one what a product wants side by side of its result, whose vectors run
// along an axis that both have.
bool gathers(const Task& task, const Dag& dag, const Classified& stages, const Compute& transform,
             const std::map<size_t, TileAxes>& tiles) {
  for (const size_t consumer : dag.consumers(transform.output)) {
    const auto tile = tiles.find(consumer);
    if (tile == tiles.end()) continue;
    for (const Operand& operand : stages.of(consumer).operands) {
      if (operand.load->tensor != transform.output || !operand.uses[tile->second.vector]) continue;
      if (!lie_side_by_side(task, dag, *operand.load, operand.step_dim[tile->second.vector])) return true;
    }
  }
  return false;
}

// What a product reads of transforms and writes for them is written and read again: near where the cache
// holds it for as many rows as a tile has.
double between_cycles(const Task& task, const Dag& dag, const Classified& stages, const Stage& stage,
                      const TileAxes* tile, const CostConstants& costs) {
  const auto is_transform = [&](size_t compute) { return stages.of(compute).role == Role::transform; };
  double bytes = 0;
  for (const Operand& operand : stage.operands) {
    const Compute* producer = dag.producer(operand.load->tensor);
    if (producer != nullptr && is_transform(static_cast<size_t>(producer - dag.computes.data())))
      bytes += bytes_in(operand.load->tensor);
  }
  const Compute& compute = dag.computes[stage.compute];
  if (std::ranges::any_of(dag.consumers(compute.output), is_transform)) bytes += bytes_in(compute.output);
  if (bytes == 0) return 0;
  const double rows =
      tile != nullptr && tile->rows ? static_cast<double>(compute.axes[*tile->rows].extent) : 1;
  const double of_tile = bytes / rows * std::min(rows, costs.rows_between);
  const bool is_near = of_tile <= costs.cache_share * static_cast<double>(task.target.cpu().l2.bytes);
  return 2 * bytes / bytes_per_cycle(task.target.cpu(), is_near ? of_tile : bytes, costs);
}

}  // namespace

double bytes_per_cycle(const CpuTarget& target, double bytes, const CostConstants& costs) {
  if (bytes <= static_cast<double>(target.l2.bytes)) return costs.l2_bytes_per_cycle;
  return bytes <= static_cast<double>(target.l3.bytes) ? costs.l3_bytes_per_cycle
                                                       : costs.memory_bytes_per_cycle;
}

double cycles_between_apart(const Task& task, const Dag& dag, const RowBlock& block,
                            const CostConstants& costs) {
  double cycles = 0;
  for (const size_t member : block.members) {
    const Tensor& tensor = dag.computes[member].output;
    const auto passes = static_cast<double>(1 + dag.consumers(tensor).size());
    cycles += passes * fetch_cycles(task, tensor, costs);
  }
  return cycles;
}

double cycles_between_in_rows(const Task& task, const Dag& dag, const Classified& stages,
                              const RowBlock& block, const std::map<size_t, TileAxes>& tiles,
                              const CostConstants& costs) {
  const CpuTarget& target = task.target.cpu();
  const double in_cache = costs.block_rows_share * static_cast<double>(target.l2.bytes);
  const double rows = std::max(1.0, std::floor(in_cache / static_cast<double>(bytes_of_row(dag, block))));
  double cycles = 0;
  for (const auto& [product, tile] : tiles) {
    if (!block.axes.contains(product) || !tile.rows) continue;
    const Compute& compute = dag.computes[product];
    // Of one of the many small products, along all axes that every operand has.
    double others = 1;
    double whole = 0;
    for (const Operand& operand : stages.of(product).operands)
      whole += operand.uses[*tile.rows] ? 0 : bytes_in(operand.load->tensor);
    for (const size_t axis : block.axes.at(product))
      others *= axis == tile.rows ? 1 : static_cast<double>(compute.axes[axis].extent);
    const auto extent = static_cast<double>(compute.axes[*tile.rows].extent);
    const double fetched =
        std::ceil(extent / std::min(rows, extent)) * whole / bytes_per_cycle(target, whole / others, costs);
    cycles += std::max(0.0, fetched - product_cycles(task, dag, stages.of(product), &tile, costs));
  }
  return cycles;
}

double least_operations(const Dag& dag, const Classified& stages) {
  constexpr int64_t kSampled = 2048;
  double operations = 0;
  for (const Stage& stage : stages.stages) {
    const Compute& compute = dag.computes[stage.compute];
    // Narrower integers fill a vector with more of them than the machine's peak counts.
    const DType dtype = compute.output->dtype;
    if (stage.role != Role::product || (!is_float(dtype) && bytes_of(dtype) < 4)) continue;
    const Sampled needed = needed_share(dag, compute, nullptr, kSampled);
    operations += 2 * points_of(compute) * std::max(needed.share - 3 * needed.deviation, 0.0);
  }
  return operations;
}

double estimated_cycles(const Task& task, const Dag& dag, const Classified& stages,
                        const std::map<size_t, TileAxes>& tiles, const CostConstants& costs) {
  double cycles = 0;
  for (const Stage& stage : stages.stages) {
    if (stage.role == Role::inlined || stage.role == Role::prepared) continue;
    const Compute& compute = dag.computes[stage.compute];
    double here = points_of(compute) / stage.lanes;
    if (stage.role == Role::transform) {
      // One a cycle: as many elements are read and written beside them.
      here *= share_of_nonzero_entries(compute);
      if (gathers(task, dag, stages, compute, tiles)) here *= stage.lanes;
    }
    const auto tile = tiles.find(stage.compute);
    const TileAxes* chosen = tile == tiles.end() ? nullptr : &tile->second;
    if (stage.role == Role::product) {
      here = product_cycles(task, dag, stage, chosen, costs);
      // Of more than two factors each but the last costs a multiplication of its own.
      here *= static_cast<double>(std::max<size_t>(stage.operands.size(), 2) - 1);
    }
    const double constants = constant_cycles(task, compute, stage, costs);
    here = std::max(here, constants) + costs.beside_longer * std::min(here, constants);
    if (stage.role == Role::product) here += between_cycles(task, dag, stages, stage, chosen, costs);
    cycles += here;
  }
  return cycles;
}

}  // namespace lathe
