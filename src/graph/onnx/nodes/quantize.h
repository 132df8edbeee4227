// ONNX QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: real numbers, and the integers that stand
// for them by a scale and a zero point, each one number, one for each place of an axis, or one for each block
// of places of an axis.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/nodes/quantized_steps.h"
#include "graph/onnx/steps.h"

namespace lathe {

// The quotient by the scale, rounded with halves to the even number, plus the zero point; what the integer's
// type does not hold becomes the nearest that it does.
ImportedOutputs import_quantize_linear(OnnxNode& node);
// The difference from the zero point, times the scale; of the scale's type, or of the one that is asked for.
ImportedOutputs import_dequantize_linear(OnnxNode& node);
// The steps of numbers of u8 that stand for x, of f32 with so many axes, and of a scale and a zero point that
// its range and 0 follow from.
QuantizedInput add_dynamic_quantization(StepList& steps, size_t x, size_t rank);
// To u8, by a scale and a zero point that the data's range and 0 follow from; these are outputs too.
ImportedOutputs import_dynamic_quantize_linear(OnnxNode& node);

}  // namespace lathe
