// ONNX Pad in all its modes.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX Pad by constant pads; a constant that fills them may be an input. Pads below 0 cut off before any
// others are filled.
ImportedOutputs import_pad(OnnxNode& node);

}  // namespace lathe
