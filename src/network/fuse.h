// Cuts a graph into groups, each of which becomes one kernel: an anchor (or a lone element-wise node) with
// the element-wise nodes behind it. Every intermediate of a group is read inside it alone, so that nothing is
// computed twice and no group depends on itself. Views (Reshape, Identity) belong to no group: their result
// is their operand's storage. Where inside the kernel the element-wise work is computed, schedules decide
// (Stage::epilogue, analysis/classify.h).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace lathe {

struct FusedGroup {
  std::vector<size_t> nodes;        // indices into Graph::nodes, in order
  size_t anchor = 0;                // the node that gives the group its name and its loops: the first
  std::vector<TensorId> inputs;     // activations read from outside, in the order of first use, each once
  std::vector<TensorId> constants;  // constants read, likewise
  std::vector<TensorId> outputs;    // what the group gives to others
};

// The groups in an order in which they can run. Where both operands of an element-wise node could take it in,
// the one with more arithmetic does: a residual add joins the heavier convolution. A view that must become a
// copy, because it gives a graph output whose storage is not free, is a group of its own.
std::vector<FusedGroup> fuse(const Graph& graph);

// For each tensor the one in whose storage it lies: its own, or for views their operand's. `fuse` makes no
// group for a node whose output lies elsewhere.
std::vector<TensorId> storage_of(const Graph& graph);

}  // namespace lathe
