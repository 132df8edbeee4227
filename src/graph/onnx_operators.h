// The table of ONNX node types that Lathe imports. A new type is a row here and an import function in its
// family (graph/operators/).
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx_node.h"
#include "graph/onnx_tensor.h"

namespace lathe {

// What one output of a node is: an operator of the graph over the node's operands, or a constant.
using ImportedOutput = std::variant<GraphOp, OnnxConstant>;

struct OnnxOperator {
  std::string_view type;
  int64_t since;        // the oldest operator set in which the node means what the import takes it for
  size_t least_inputs;  // of the ONNX node; those beyond the operator's operands are read by `import` only
  size_t most_inputs;
  size_t operands;  // how many of the inputs become operands of the graph's nodes, at most
  // An entry an output.
  Result<std::vector<ImportedOutput>> (*import)(OnnxNode& node);
};

// The row of that type, or null.
const OnnxOperator* find_onnx_operator(std::string_view type);

}  // namespace lathe
