// Determinants of small matrices.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX Det: by elimination, whose pivots are the largest of their columns.
ImportedOutputs import_det(OnnxNode& node);

}  // namespace lathe
