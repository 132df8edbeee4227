// ONNX If, Loop and Scan: their bodies as plain nodes, as often as they run.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace onnx {
class NodeProto;
}  // namespace onnx

namespace lathe {

// The import around a node, as far as control flow needs it.
struct BodyImport {
  // The tensor of that name; null where no node before gives it.
  std::function<const GraphTensor*(const std::string& name)> find;
  // Adds a node of the body.
  std::function<Status(onnx::NodeProto& node)> add;
};

// Whether the node is one of these.
bool is_control_flow(const onnx::NodeProto& node);

// Adds what the node computes:
// - If: the branch that its condition takes where that is known, else both and a choice between them, which
//   must agree in type and shape;
// - Loop: its body as often as its count and its conditions say, which must be known;
// - Scan, from operator set 9 on: its body for every place.
// `nodes`: how many nodes the model's bodies came to so far. An Error where it cannot be done, or for more
// than kMostNodesOfBodies.
Status add_control_flow(const onnx::NodeProto& node, int64_t operator_set, const BodyImport& import,
                        size_t& nodes);

}  // namespace lathe
