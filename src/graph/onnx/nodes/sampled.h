// ONNX nodes that read an image between its places, at coordinates that only a run tells.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX RoiAlign: regions of images, each in as many bins, of which each is the mean or the maximum of
// samples.
ImportedOutputs import_roi_align(OnnxNode& node);
// ONNX DeformConv: a convolution whose taps are moved by offsets, and weighted by a mask.
ImportedOutputs import_deform_conv(OnnxNode& node);

}  // namespace lathe
