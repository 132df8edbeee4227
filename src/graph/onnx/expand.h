// ONNX nodes that are short for several: those of any number of operands, and Clip between bounds that are
// computed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace onnx {
class NodeProto;
}  // namespace onnx

namespace lathe {

// The nodes, the last of which gives the node's output; none where it stands for itself alone.
// `is_real_constant` says of a tensor whether it is a constant of f32.
std::vector<onnx::NodeProto> expand_onnx_node(
    const onnx::NodeProto& node, const std::function<bool(const std::string&)>& is_real_constant);

}  // namespace lathe
