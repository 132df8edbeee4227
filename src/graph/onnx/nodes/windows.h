// ONNX nodes about the windows of an image that more than one operator computes, or one by constant places.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX MaxPool, with the places of the largest elements: the first one of several that are as large.
ImportedOutputs import_max_pool_outputs(OnnxNode& node);
// ONNX LpPool and GlobalLpPool of any p.
ImportedOutputs import_any_lp_pool(OnnxNode& node);
ImportedOutputs import_any_global_lp_pool(OnnxNode& node);
// ONNX Col2Im: each place of an image is the sum of what all blocks have for it.
ImportedOutputs import_col2im(OnnxNode& node);
// ONNX MaxUnpool, whose indices name places of their element's own plane.
ImportedOutputs import_max_unpool(OnnxNode& node);

}  // namespace lathe
