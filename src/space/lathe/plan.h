// What a sketch of the space `lathe` is fixed to before anything is chosen. Pure functions of a Dag.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/classify.h"
#include "analysis/row_block.h"
#include "schedule/trace.h"
#include "space/rules/product/tile_candidates.h"
#include "task/task.h"

namespace lathe {

// A Dag without its inlined computes, the steps that took them out, and what is left.
struct Reduced {
  Dag dag;
  Trace steps;
  Classified classified;
};
// `stored`: names of computes that are to be stages of their own even where they only move elements.
Reduced take_out_inlined(const Task& task, Dag dag, Trace steps, const std::set<std::string>& stored,
                         const CostConstants& costs);

// The algorithm, the reduced Dag and, for each product, the axes of its tile.
struct Plan {
  std::string arm;
  Task task;
  CostConstants costs;
  Reduced reduced;
  std::map<size_t, TileAxes> tiles;
  std::vector<RowBlock> rows = {};   // stages that run together
  std::vector<RowBlock> apart = {};  // stages that might

  // Whether the stage is a product that is written as sums in the lanes.
  bool is_sum_in_lanes(size_t compute) const;
  // The sketch's name: the arm and the tiles.
  std::string name() const;
};

// Choices of tile axes for every product, the first choices first, at most `most` a product and not too many
// in all, and as many again where stages run in rows.
std::vector<Plan> plans_of(const Task& task, const std::string& arm, const Reduced& reduced, int64_t most,
                           const CostConstants& costs);

}  // namespace lathe
