// The mini-graph of a task ([F] 4.1): its nodes, and what a schedule may do with each of them. How many loops
// of which kind and trip count a node has, and how nodes hang together, says expr/loop_counts.h; what its
// operands are, analysis/classify.h. Pure functions of a Dag.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/classify.h"
#include "task/task.h"

namespace lathe {

enum class MiniGraphRole : uint8_t {
  prepared,      // computed of constants alone, at load time: no schedule has a say in it
  intermediate,  // without reduce loops, and read by other nodes alone: padding, expansion
  result,        // without reduce loops, and an output
  reducing,
};

struct MiniGraphNode {
  std::string name;  // its tensor's
  size_t compute = 0;
  MiniGraphRole role = MiniGraphRole::reducing;
  // Loops that may be the innermost one, which is vectorised ([F] 4.2): what that leaves out would neither
  // write nor read, nor find packed, a vector's elements side by side. Empty where each has one iteration.
  std::vector<size_t> innermost;
  bool may_be_inlined = false;  // into its consumers
  // Whether it and its only consumer can share loops (compute_at): an intermediate is then computed in its
  // consumer's, a reducing node's element-wise consumer in the node's.
  bool may_share_loops = false;
};

struct MiniGraph {
  Task task;
  CostConstants costs = {};
  std::vector<MiniGraphNode> nodes = {};  // in post-order: producers before consumers

  const Compute& compute(const MiniGraphNode& node) const { return task.dag.computes[node.compute]; }
};

MiniGraph mini_graph_of(const Task& task);

// The Dag with the bodies of these nodes put into their consumers, as the step `inline` does it.
Dag with_inlined(Dag dag, const std::set<std::string>& names);

// The axes of more than one iteration of this kind, in their order.
std::vector<size_t> loops_of(const Compute& compute, AxisKind kind);

}  // namespace lathe
