// Where what a sketch reads and writes lies ([B]'s workloads keep channels last, and its code rewrites the
// layouts of constants): along the innermost spatial axis of each node its results and operands lie side by
// side where their layouts are open, and constants lie in the order of the tile's loops.
#pragma once

#include <vector>

#include "space/ansor/node_loops.h"
#include "space/rules/decider.h"

namespace lathe {

// Decides the layouts that tiled nodes want, then those of what the others read.
void decide_layouts(Decider& decider, const std::vector<NodeOutline>& nodes);

// The spatial axes of the node in the order of its results' memory, then its reduce axes.
std::vector<size_t> axis_order(const Decider& decider, const Compute& compute);

// Copies of constants in the order of the loops.
void pack_constants(Decider& decider, const Stage& stage, const NodeLoops& loops);

}  // namespace lathe
