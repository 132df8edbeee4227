// Cuts a graph into groups, each of which becomes one kernel: an anchor (or a lone element-wise node) with
// the element-wise nodes behind it, also where several of them read a tensor (x * sigmoid(x)), and of
// attention all of that (network/join_rows.h). Every
// intermediate of a group is read inside it alone, so that nothing is computed twice and no group depends on
// itself. A group stands in one loop of the graph, or in none. What is its operand's storage
// (LayoutPlan::is_free) is computed by no group. Where inside the kernel the element-wise work is computed,
// schedules decide (Stage::epilogue, analysis/classify.h).
#pragma once

#include <vector>

#include "graph/graph.h"
#include "network/plan_layouts.h"

namespace lathe {

struct FusedGroup {
  std::vector<size_t> nodes;  // indices into Graph::nodes, in an order in which they can be computed
  // The nodes that give the group its loops, each with what is computed around it; the first of them gives
  // the group its name.
  std::vector<size_t> anchors;
  std::vector<TensorId> inputs;      // activations read from outside, in the order of first use, each once
  std::vector<TensorId> constants;   // constants read, likewise
  std::vector<TensorId> outputs;     // what the group gives to others
  std::vector<size_t> begins = {0};  // where in `nodes` those of each anchor begin
};

// The groups in an order in which they can run. Where both operands of an element-wise node could take it in,
// the one with more arithmetic does: a residual add joins the heavier convolution. A Transpose that costs
// nothing stands in a group where element-wise work behind it joins what is before it. A view that must
// become a copy, because it gives a graph output whose storage is not free, is a group of its own.
std::vector<FusedGroup> fuse(const Graph& graph, const LayoutPlan& plan);

}  // namespace lathe
