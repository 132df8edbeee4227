// Schedule_for_node of algorithm 1 ([F] 5.3, "Schedule for CPU"): the steps of one node that has loops of its
// own. Loops are split and reordered into tiles, the outermost ones fused and shared out, the innermost one
// vectorised.
#pragma once

#include <string>
#include <vector>

#include "space/flextensor/graph_plan.h"
#include "space/rules/decider.h"

namespace lathe {

// Results that another node takes are left for that to collect.
void schedule_for_node(Writer& writer, const NodePlan& plan);

// The results of the innermost tile are collected in registers where the tile is written out whole, else in
// memory of the thread; but for a tile that is taken as it is. After the taker has its place: what is
// collected goes through loops of its own, some of the node's names.
void collect_results(Writer& writer, const NodePlan& plan);

// The loops of a block that goes through what an outer loop of the node (a place in outer_names) makes of its
// results: one a dimension, of these names. Vectors run as in the node.
void write_result_loops(Writer& writer, const NodePlan& plan, const std::string& block,
                        std::vector<std::string> loops, size_t outer_loop, bool written_out);

}  // namespace lathe
