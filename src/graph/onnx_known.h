// ONNX nodes whose result is known from what is constant when a model is read, beside the operators of the
// graph: the shapes that models compute with.
#pragma once

#include "graph/onnx_node.h"
#include "graph/onnx_tensor.h"

namespace lathe {

// ONNX Shape: the extents of the operand, or some of them.
Result<OnnxConstant> import_shape(OnnxNode& node);
// ONNX ConstantOfShape, of a constant shape.
Result<OnnxConstant> import_constant_of_shape(OnnxNode& node);

}  // namespace lathe
