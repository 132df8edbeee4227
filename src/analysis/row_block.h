// Stages that run together for a block of rows, as softmax's do, and attention's from the products of queries
// and keys to those with the values: axes of the last stage, but for its own last one, lead to axes of all of
// them, so that for a few values of these everything between the first and the last stage fits a cache. Pure
// functions of the Dag.
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

// How many rows a block has in all.
int64_t rows_of(const Dag& dag, const RowBlock& block);
// What one of them takes of all that lies between the stages.
int64_t bytes_of_row(const Dag& dag, const RowBlock& block);

}  // namespace lathe
