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

}  // namespace

double estimated_cycles(const Task& task, const Dag& dag, const Classified& stages,
                        const std::set<size_t>& tiled) {
  const double lanes = task.target.lanes(4);
  double cycles = 0;
  for (const Stage& stage : stages.stages) {
    if (stage.role == Role::inlined || stage.role == Role::prepared) continue;
    const double points = points_of(dag.computes[stage.compute]);
    const bool is_scalar = stage.role == Role::product && !tiled.contains(stage.compute);
    double here = is_scalar ? points : points / lanes;
    if (stage.role == Role::product || stage.role == Role::transform) here /= task.target.fma_per_cycle;
    if (stage.role == Role::product) {
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
