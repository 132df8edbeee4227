// ONNX LinearAttention: what queries find in a matrix that keys and values are added to, a place after the
// other.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// All of its rules (linear, gated, delta, gated_delta), fewer heads of keys and values than of queries, a
// past state. Each place is a few operators over the state before it, of the same kernels.
ImportedOutputs import_linear_attention(OnnxNode& node);

}  // namespace lathe
