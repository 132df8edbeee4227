// ONNX If, Loop and Scan: their bodies as plain nodes, as often as they run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "graph/onnx/nodes/node_writer.h"

namespace lathe {

// Whether the node is one of these.
bool is_control_flow(const onnx::NodeProto& node);

// Adds what the node computes:
// - If: the branch that its condition takes where that is known, else both and a choice between them, which
//   must agree in type and shape;
// - Loop: its body as often as its count and its conditions say; where only a run tells a condition, as often
//   as its count says, each run's states where the conditions before it hold, else those before it;
// - Scan, from operator set 9 on: its body for every place.
// `nodes`: how many nodes the model's bodies came to so far. An Error where it cannot be done, or for more
// than kMostNodesOfBodies.
Status add_control_flow(const onnx::NodeProto& node, int64_t operator_set, const BodyImport& import,
                        size_t& nodes);

}  // namespace lathe
