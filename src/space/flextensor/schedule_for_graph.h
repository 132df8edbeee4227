// Schedule_for_graph of algorithm 1 ([F] 5.3): what nodes have to do with each other. Inlined nodes go into
// their consumers, intermediates into loops of theirs (compute_at), and the element-wise consumer of a
// reducing node into a loop of the node, which comes to the same as the node in loops of its consumer.
#pragma once

#include "space/flextensor/graph_plan.h"
#include "space/rules/decider.h"

namespace lathe {

// In which order configs are asked for and steps written ([F] 5.3). `bottom_up` is algorithm 1: every node in
// post-order, then the graph. `top_down` is the opposite: the graph, then the nodes from the outputs to the
// inputs, each with what is computed in its loops. [F]'s recurrent order repeats either several times. It is
// no value here, since each question has one answer: a second pass would ask and write the same once more.
// Points of both orders are the same programs, as vectors of another order.
enum class NodeOrder : uint8_t { bottom_up, top_down };

// The steps of a point.
Trace schedule_in_order(const MiniGraph& graph, const GraphPlan& plan, NodeOrder order);

}  // namespace lathe
