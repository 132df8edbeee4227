// Slices that are no kernels: what reads them all is element-wise, so that each reader finds its elements in
// the slice's operand by itself. A part of a product's result, as the gates of a recurrent layer or the
// halves of a gated unit are, is so not copied.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "network/plan_layouts.h"

namespace lathe {

// For each node whether it is such a slice: every reader's result has the slice's own shape, and neighbours
// along the last axis stay neighbours.
std::vector<bool> read_through(const Graph& graph, const LayoutPlan& plan);

}  // namespace lathe
