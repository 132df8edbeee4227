// ONNX TopK: the elements themselves, and their places.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

ImportedOutputs import_top_k(OnnxNode& node);

}  // namespace lathe
