// Nodes behind those whose results they read: the standard asks for that order, and converters append nodes
// all the same.
#pragma once

namespace onnx {
class GraphProto;
}  // namespace onnx

namespace lathe {

// Moves nodes of the graph behind all that they and their bodies read of it; those that are in order stay,
// and so do nodes that read each other in a circle, of which the import tells.
void order_nodes(onnx::GraphProto& graph);

}  // namespace lathe
