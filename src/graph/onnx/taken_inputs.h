// Which of a node's inputs its import takes: what the table of operators says of left-out ones and of those
// without elements.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/onnx/operators.h"

namespace onnx {
class NodeProto;
}  // namespace onnx

namespace lathe {

// An entry for each input up to the last one that is there: whether it is an operand, or is left out, which
// one without elements is where it need not be there. An Error for too few or too many, and for one without
// elements that the operator cannot take, with `hint` behind it.
Result<std::vector<bool>> taken_inputs(const onnx::NodeProto& node, const OnnxOperator& row,
                                       const std::function<bool(const std::string&)>& is_empty,
                                       const std::string& hint);

// Of a node that joins its inputs: unless all are without elements, those that are so go.
void drop_empty_inputs(onnx::NodeProto& node, const std::function<bool(const std::string&)>& is_empty);

}  // namespace lathe
