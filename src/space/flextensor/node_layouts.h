// Where the tensors of a reducing node lie, by the parts that its loops are split in: the packed layouts of
// [F] 5.3 and 6.3 (NCHWc), wherever a layout is open. Constants that have the vectors' axis come in panels as
// wide as the innermost tile, packed at load time. What is read element by element has its sum's longest axis
// innermost, in blocks of its innermost loop. Results are written as they lie.
#pragma once

#include "space/flextensor/config.h"
#include "space/flextensor/node_nest.h"
#include "space/rules/decider.h"

namespace lathe {

// Decides, in the decider, what is still open of the layouts of a reducing node's operands and results; of
// its element-wise consumer's instead of its results where that `takes_results`.
void place_tensors(Decider& decider, const Stage& stage, const NodeConfig& config, const NodeNest& nest,
                   bool takes_results);

// What a node without reduce loops reads lies side by side as it is written: along this axis, in blocks of
// this size (0: none).
void place_reads(Decider& decider, const Stage& stage, size_t axis, int64_t block);

// The config of an intermediate without reduce loops: its loops go as its output lies, vectors along what
// lies innermost.
NodeConfig along_memory(const Compute& compute, NodeConfig config, const Layout& layout, int64_t lanes);

}  // namespace lathe
