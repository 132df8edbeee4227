// Stages that run together for a block of rows, as softmax's do: the leading axes of the last stage lead to
// axes of all of them, so that for a few values of these everything between the first and the last stage
// fits a cache. Pure functions of the Dag.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analysis/classify.h"

namespace lathe {

struct RowBlock {
  size_t last = 0;                             // element-wise; the loops around its rows hold the others
  std::vector<size_t> members;                 // the others, in the order of the Dag
  std::map<size_t, std::vector<size_t>> axes;  // by stage: its axes that are common, in the last one's order
};

// The blocks of a Dag that are worth it: something between is reduced, and read more than once. No stage is
// in two of them.
std::vector<RowBlock> row_blocks_of(const Dag& dag, const Classified& stages);

}  // namespace lathe
