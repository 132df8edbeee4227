// ONNX NonZero, Compress and NonMaxSuppression: how much they select only a run tells, so that their results
// have their largest extent and a count.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// The places of a tensor's elements that are not 0.
ImportedOutputs import_non_zero(OnnxNode& node);
// The places of an axis, or the elements, for which a condition is true.
ImportedOutputs import_compress(OnnxNode& node);
// Boxes by their scores, of each class the best one, then the best that overlaps it by no more than a share,
// and so on: as often as the constant count of boxes of a class says.
ImportedOutputs import_non_max_suppression(OnnxNode& node);

}  // namespace lathe
