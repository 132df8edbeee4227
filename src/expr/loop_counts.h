// FlexTensor's static analysis of a Dag (its mini-graph): how many loops of which kind and extent each node
// has and how the nodes hang together. Placeholders are no nodes; padding and the like are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expr/dag.h"

namespace lathe {

struct NodeAnalysis {
  std::string name;
  std::vector<std::string> order;            // the loops, outermost first, as written
  std::vector<int64_t> spatial_trip_counts;  // in that order
  std::vector<int64_t> reduce_trip_counts;
  int inputs = 0;     // distinct tensors that the node reads, tables not counted
  int outputs = 1;    // a node gives one tensor
  int consumers = 0;  // nodes that read it

  int spatial_loops() const { return static_cast<int>(spatial_trip_counts.size()); }
  int reduce_loops() const { return static_cast<int>(reduce_trip_counts.size()); }
};

struct DagAnalysis {
  std::vector<NodeAnalysis> nodes;  // in the order of the Dag's computes
  int spatial_loops = 0;            // summed over the nodes
  int reduce_loops = 0;
};

DagAnalysis analyse(const Dag& dag);

// How often a compute's body is evaluated: the product of all its extents.
double points_of(const Compute& compute);

}  // namespace lathe
