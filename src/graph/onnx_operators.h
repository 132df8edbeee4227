// The table of ONNX node types that Lathe imports. A new type is a row here and an import function in its
// family (graph/operators/).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx_node.h"

namespace lathe {

struct OnnxOperator {
  std::string_view type;
  int64_t since;        // the oldest operator set in which the node means what the import takes it for
  size_t least_inputs;  // of the ONNX node; those beyond the operator's operands are read by `import` only
  size_t most_inputs;
  size_t operands;  // how many of the inputs become operands of the graph's node, at most
  Result<GraphOp> (*import)(OnnxNode& node);
};

// The row of that type, or null.
const OnnxOperator* find_onnx_operator(std::string_view type);

}  // namespace lathe
