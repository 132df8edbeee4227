#include "space/estimate.h"

#include <algorithm>

#include "expr/analysis.h"

namespace lathe {
namespace {

// What one core gets from the third-level cache and from memory.
constexpr double kBytesPerCycleBeyondL2 = 16;
constexpr double kBytesPerCycleBeyondL3 = 8;

double elements_of(const Tensor& tensor) {
  double elements = 1;
  for (const int64_t extent : tensor->shape) elements *= static_cast<double>(extent);
  return elements;
}

double fetch_cycles(const Task& task, const Tensor& tensor) {
  const double bytes = elements_of(tensor) * static_cast<double>(bytes_of(tensor->dtype));
  if (bytes <= static_cast<double>(task.target.l2.bytes)) return 0;
  return bytes / (bytes <= static_cast<double>(task.target.l3.bytes) ? kBytesPerCycleBeyondL2
                                                                     : kBytesPerCycleBeyondL3);
}

double product_cycles(const Target& target, const Compute& compute, const TileAxes* tile) {
  const double points = points_of(compute);
  if (tile == nullptr) return points / target.fma_per_cycle;
  // A vector takes its time however few of its lanes are filled.
  const int64_t extent = compute.axes[tile->vector].extent;
  const double vectors =
      points / static_cast<double>(extent) * static_cast<double>(ceil_div(extent, target.lanes(4)));
  // Without rows two loads for each multiply-add, of some two a cycle.
  return tile->rows ? vectors / target.fma_per_cycle : vectors;
}

}  // namespace

double estimated_cycles(const Task& task, const Dag& dag, const Classified& stages,
                        const std::map<size_t, TileAxes>& tiles) {
  double cycles = 0;
  for (const Stage& stage : stages.stages) {
    if (stage.role == Role::inlined || stage.role == Role::prepared) continue;
    const Compute& compute = dag.computes[stage.compute];
    double here = points_of(compute) / task.target.lanes(4);
    if (stage.role == Role::transform) here /= task.target.fma_per_cycle;
    if (stage.role == Role::product) {
      const auto tile = tiles.find(stage.compute);
      here = product_cycles(task.target, compute, tile == tiles.end() ? nullptr : &tile->second);
      // Of more than two factors each but the last costs a multiplication of its own.
      here *= static_cast<double>(std::max<size_t>(stage.operands.size(), 2) - 1);
      double fetched = 0;
      for (const Operand& operand : stage.operands) {
        if (operand.is_constant || operand.is_prepared) fetched += fetch_cycles(task, operand.load->tensor);
      }
      here = std::max(here, fetched);
    }
    cycles += here;
  }
  return cycles;
}

}  // namespace lathe
