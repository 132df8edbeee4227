// Which groups of a graph become one for the rows that they have in common: a product, what combines the
// elements of each row of its result (a softmax, a norm), and the product that takes those rows, as attention
// is. Each row of the last product needs the same rows alone of all before it, which then need not be in
// memory; how many are computed at a time, or whether all are, is the task's own matter
// (analysis/row_block.h).
#pragma once

#include <optional>
#include <vector>

#include "network/fuse.h"

namespace lathe {

// The groups, of which only the nodes and anchors need be known, with those joined whose intermediate results
// nobody else reads and that stand in one loop: `loops` has each node's. A joined group stands where its last
// one stood.
std::vector<FusedGroup> join_rows(const Graph& graph, std::vector<FusedGroup> groups,
                                  const std::vector<std::optional<size_t>>& loops);

}  // namespace lathe
