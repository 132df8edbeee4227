// Where the tensors of a graph lie: which of them share storage, and in which order of their axes. Planned
// for the whole graph before it is cut into kernels, from what its operators want.
//
// An operator wants an axis innermost: convolutions, pools and their kin the channels, all others their last
// one. Element-wise operators and those that move elements want what their neighbours do. A Transpose between
// two tensors that so want the same axis innermost costs nothing: its result is its operand's storage, read
// in another order. Where they want different ones it is a copy.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "task/layout.h"

namespace lathe {

struct LayoutPlan {
  // For each tensor the one in whose storage it lies: its own, or for views and Transposes that cost nothing
  // that of their operand.
  std::vector<TensorId> storage;
  // Of each tensor by its own axes. Row-major: constants, what the caller sees (the graph's inputs and
  // outputs), and what is read in another shape.
  std::vector<Layout> layouts;

  // Whether the node is computed by nobody: its result is its operand's storage.
  bool is_free(const GraphNode& node) const { return storage[node.output] != node.output; }
};

LayoutPlan plan_layouts(const Graph& graph);

}  // namespace lathe
