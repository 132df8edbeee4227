// From a fused group to a tensor program: of each anchor its computes, then one compute with all element-wise
// work behind it. Logical shapes are the graph's own (NCHW). Tensors are named by their place, so that equal
// groups give equal text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"
#include "graph/graph.h"
#include "network/fuse.h"

namespace lathe {

struct GroupDag {
  Dag dag;                             // inputs X0, X1, ..., then constants W0, W1, ...
  std::vector<TensorId> arguments;     // what the Dag's inputs, then its outputs stand for
  std::vector<std::string> constants;  // the inputs that are constants
};

// An Error names the anchor if its computes make no valid Dag.
Result<GroupDag> group_to_dag(const Graph& graph, const FusedGroup& group);

}  // namespace lathe
