// Which axes a product can be tiled around.
#include <algorithm>

#include "space/rules/rules.h"

namespace lathe {
namespace {

// Whether vectors along this axis can be loaded: packed beforehand, packed in a copy, or contiguous by
// layout.
bool can_fill_vectors(const Compute& compute, const Stage& stage, size_t axis) {
  if (compute.axes[axis].extent < 2) return false;
  return std::ranges::any_of(stage.operands, [&](const Operand& operand) { return operand.uses[axis]; }) &&
         std::ranges::all_of(stage.operands, [&](const Operand& operand) {
           return !operand.uses[axis] || operand.dim_of_axis[axis] >= 0;
         });
}

double promise(const Task& task, const Compute& compute, const Stage& stage, const TileAxes& tile) {
  const int lanes = task.target.lanes(4);
  const int64_t vector = compute.axes[tile.vector].extent;
  const int64_t rows = tile.rows ? compute.axes[*tile.rows].extent : 1;
  const double lanes_used =
      static_cast<double>(vector) / static_cast<double>(ceil_div(vector, lanes) * lanes);
  double score = lanes_used * static_cast<double>(std::min<int64_t>(vector, 2 * lanes)) *
                 static_cast<double>(std::min<int64_t>(rows, 6));
  for (const Operand& operand : stage.operands) {
    if (operand.uses[tile.vector] && (operand.is_constant || operand.is_prepared)) score *= 4;
  }
  return score;
}

}  // namespace

std::vector<TileAxes> tile_candidates(const Task& task, const Compute& compute, const Stage& stage) {
  std::vector<TileAxes> candidates;
  for (size_t v = 0; v < compute.spatial_count(); ++v) {
    if (!can_fill_vectors(compute, stage, v)) continue;
    // Rows run along the longest axis that some operand without the vector axis, or every operand, has.
    std::optional<size_t> rows;
    for (size_t u = 0; u < compute.spatial_count(); ++u) {
      const bool reused = std::ranges::any_of(
          stage.operands, [&](const Operand& operand) { return operand.uses[v] && !operand.uses[u]; });
      if (u == v || !reused || compute.axes[u].extent < 2) continue;
      if (!rows || compute.axes[u].extent >= std::min<int64_t>(compute.axes[*rows].extent, 16)) rows = u;
    }
    candidates.push_back({v, rows});
  }
  std::ranges::stable_sort(candidates, std::greater<>(),
                           [&](const TileAxes& tile) { return promise(task, compute, stage, tile); });
  return candidates;
}

}  // namespace lathe
