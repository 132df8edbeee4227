// ONNX CausalConvWithState: a convolution along a sequence that looks back only.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// Each channel by itself, over what came before the sequence (zeros where no past is there), with or without
// the activation; the second output is what a next sequence has before it.
ImportedOutputs import_causal_conv(OnnxNode& node);

}  // namespace lathe
