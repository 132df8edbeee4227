// ONNX's casts, to the element types of the graph and to codes (graph/operators/coded.h).
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX Cast, and CastLike, whose second input gives its type alone. To codes of floats `saturate` and
// `round_mode` say what becomes of numbers that they do not have.
ImportedOutputs import_cast_node(OnnxNode& node);
ImportedOutputs import_cast_like(OnnxNode& node);

}  // namespace lathe
