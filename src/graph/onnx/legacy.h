// Nodes of the operator sets before 7, which broadcast where an attribute says so and to where it says, as
// nodes of set 7, which broadcast as NumPy does. The import knows those alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/tensor_type.h"

namespace onnx {
class NodeProto;
}  // namespace onnx

namespace lathe {

// The operator set whose nodes the import knows.
constexpr int64_t kNumpyOperatorSet = 7;
// The shape of a tensor of the model; null where nothing has given it.
using ShapeOf = std::function<const Shape*(const std::string& name)>;
// Nodes that compute what `node`, of an older set, does, in order; the last one is the node itself without
// what the newer set does not have. An Error where the older set does not allow the operands, or for
// training.
Result<std::vector<onnx::NodeProto>> from_legacy(const onnx::NodeProto& node, const ShapeOf& shape_of);

}  // namespace lathe
