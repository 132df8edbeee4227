// ONNX nodes on sequences side by side, each with a length or a place of its own, which may be known only
// when the model runs.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX ReverseSequence: of each sequence as many places from its front on as its length says, backwards.
ImportedOutputs import_reverse_sequence(OnnxNode& node);
// ONNX TensorScatter: a sequence of updates written into each sequence of a cache, from a place of its own
// on.
ImportedOutputs import_tensor_scatter(OnnxNode& node);

}  // namespace lathe
