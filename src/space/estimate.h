// A first guess at how the ways to compute a task compare, from sizes alone: it orders sketches before
// anything is measured, and decides nothing after that.
#pragma once

#include <map>

#include "analysis/classify.h"
#include "analysis/row_block.h"
#include "space/rules/product/tile_candidates.h"

namespace lathe {

// Cycles of one core: multiply-adds in full vectors at the rate of the units, and the time in which what a
// stage reads of constants comes from beyond the second-level cache, from memory where the task runs cold:
// the longer of the two and a part of the shorter one (docs/notes/winograd.md). `tiles` are those
// of products, by compute: one without rows uses nothing twice, and waits for the loads of vectors that are
// filled as far as its axis goes; a product that has no tile is taken to go one element at a time. Far fewer
// results than additions under way make the sum wait.
double estimated_cycles(const Task& task, const Dag& dag, const Classified& stages,
                        const std::map<size_t, TileAxes>& tiles, const CostConstants& costs = {});

// What lies between stages that may run together for a block of rows. Apart, each of them goes through the
// cache that holds its whole result.
double cycles_between_apart(const Task& task, const Dag& dag, const RowBlock& block,
                            const CostConstants& costs = {});
// Together, what a product reads whole in every row comes again for each block of them, while the
// multiply-adds go on.
double cycles_between_in_rows(const Task& task, const Dag& dag, const Classified& stages,
                              const RowBlock& block, const std::map<size_t, TileAxes>& tiles,
                              const CostConstants& costs = {});

// The floating-point multiplications and additions of the products, but for those with a factor that is known
// to be zero: what no program of the Dag does without. These are sampled, and three standard deviations are
// taken off.
double least_operations(const Dag& dag, const Classified& stages);

// What one core reads in a cycle of a buffer of that size, from the nearest cache that holds it.
double bytes_per_cycle(const CpuTarget& target, double bytes, const CostConstants& costs = {});

}  // namespace lathe
