// ONNX NonZero, Compress, Unique and NonMaxSuppression: how much they select only a run tells, so that their
// results have their largest extent and a count.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// Of flags [n], those that are set: their places in order, behind which the last place of the axis stands
// again and again, and how many they are.
struct Selected {
  size_t places = 0;  // i64 [n]
  size_t count = 0;   // i64
};
Selected add_selected(StepList& steps, size_t flags, int64_t elements);

// The places of a tensor's elements that are not 0.
ImportedOutputs import_non_zero(OnnxNode& node);
// The places of an axis, or the elements, for which a condition is true.
ImportedOutputs import_compress(OnnxNode& node);
// The elements, or the places of an axis, that differ, in order of their values or as they first stand; where
// each first stands, which one each place is, and how often it stands there.
ImportedOutputs import_unique(OnnxNode& node);
// Boxes by their scores, of each class the best one, then the best that overlaps it by no more than a share,
// and so on: as often as the constant count of boxes of a class says.
ImportedOutputs import_non_max_suppression(OnnxNode& node);

}  // namespace lathe
