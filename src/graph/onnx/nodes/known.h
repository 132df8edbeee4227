// ONNX nodes whose result is known from what is constant when a model is read, beside the operators of the
// graph: the shapes that models compute with.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/tensor.h"

namespace lathe {

// ONNX Shape: the extents of the operand, or some of them.
Result<OnnxConstant> import_shape(OnnxNode& node);
// ONNX Size: how many elements the operand has.
Result<OnnxConstant> import_size(OnnxNode& node);
// ONNX ConstantOfShape, of a constant shape.
Result<OnnxConstant> import_constant_of_shape(OnnxNode& node);
// ONNX Range, of constants: start, start + step .. up to the limit, which is left out.
Result<OnnxConstant> import_range(OnnxNode& node);
// ONNX HannWindow, HammingWindow and BlackmanWindow, of a constant size: sums of cosines of whole turns.
Result<OnnxConstant> import_hann_window(OnnxNode& node);
Result<OnnxConstant> import_hamming_window(OnnxNode& node);
Result<OnnxConstant> import_blackman_window(OnnxNode& node);
// ONNX MelWeightMatrix, of constants.
Result<OnnxConstant> import_mel_weight_matrix(OnnxNode& node);
// ONNX EyeLike: ones on a diagonal of a matrix that has the operand's shape.
Result<OnnxConstant> import_eye_like(OnnxNode& node);

}  // namespace lathe
