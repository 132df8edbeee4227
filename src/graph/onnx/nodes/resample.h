// ONNX Resize whose places are weighted sums: cubic, with antialiasing, of a region, or with what lies
// outside left out. The sizes are constants, so the weights are; each axis is resampled in its turn.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX Resize in all its modes: one operator of the graph where its places are whole or lie between two.
ImportedOutputs import_resize_outputs(OnnxNode& node);

}  // namespace lathe
