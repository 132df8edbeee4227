// Which axes a product can be tiled around. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "analysis/classify.h"

namespace lathe {

// What a product is built around: the axis that fills vectors, which may be the last of the reduction, and
// the axis that fills rows of the register tile.
struct TileAxes {
  size_t vector = 0;
  std::optional<size_t> rows = {};

  bool runs_along_reduction(const Compute& compute) const { return vector >= compute.spatial_count(); }
};

// The axes that a product of the Dag can be tiled around, most promising first. The second, or the only one,
// may have vectors along the reduction: for a long sum with fewer results than additions that the units have
// under way.
std::vector<TileAxes> tile_candidates(const Task& task, const Dag& dag, const Compute& compute,
                                      const Stage& stage, const CostConstants& costs = {});
// The loads that each multiply-add of a tile costs beyond those of whole vectors: of elements that lie apart
// in a layout that is given.
double gathered_loads(const Task& task, const Dag& dag, const Compute& compute, const Stage& stage,
                      const TileAxes& tile, const CostConstants& costs);
// The stores that each multiply-add costs beyond those of whole vectors: of results, or the epilogue's, that
// lie apart in a layout that is given. None are counted of what has windows.
double scattered_stores(const Task& task, const Dag& dag, const Compute& compute, const Stage& stage,
                        const TileAxes& tile);
// Whether the elements that are read along this dimension (-1: along none) lie side by side or can be brought
// there: in an argument whose layout is given that depends on the layout, and so it does where one is moved,
// padded or transformed on the way.
bool lie_side_by_side(const Task& task, const Dag& dag, const Load& read, int dim);
// How many results each element of the operand goes into, for each of its uses in the sum.
double reuse_of(const Compute& compute, const Operand& operand);
// The last reduce axis, if any, whose window slides by single steps along the rows of an operand's vectors.
std::optional<size_t> window_over_vectors(const Compute& compute, const Operand& operand, size_t vector,
                                          size_t rows);

}  // namespace lathe
