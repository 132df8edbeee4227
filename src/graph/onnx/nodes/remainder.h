// ONNX Mod of real numbers that only a run tells.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX Mod of f32, with the dividend's sign (fmod 1) or the divisor's: exact where the quotient is below
// 2^24.
ImportedOutputs import_real_remainder(OnnxNode& node);

}  // namespace lathe
