// ONNX nodes that become more than one operator of the graph, or have outputs besides the one that the
// operator gives.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX Dropout in inference: its operand and a mask that drops nothing.
ImportedOutputs import_dropout_outputs(OnnxNode& node);
// ONNX LayerNormalization: also the mean of what is normalised together, and one over the deviation from it.
ImportedOutputs import_layer_norm_outputs(OnnxNode& node);
// ONNX OneHot, of a constant depth: one of two numbers, by whether a place is the one that an index names;
// negative indices count from the end, and one beyond both ends names no place.
ImportedOutputs import_one_hot(OnnxNode& node);
// ONNX SwiGLU: the second operand times Swish of the first.
ImportedOutputs import_swiglu(OnnxNode& node);
// ONNX AffineGrid, of a constant size: the coordinates of each place, moved by the operand's matrices.
ImportedOutputs import_affine_grid(OnnxNode& node);
// ONNX RMSNormalization.
ImportedOutputs import_rms_norm(OnnxNode& node);

// For nodes that normalise. The root of the mean square of what `x`, of that shape, holds along the axes, a
// little more than 0 by `epsilon`.
size_t add_root_mean_square(StepList& steps, size_t x, const std::vector<size_t>& axes, const Shape& shape,
                            double epsilon);
// Two more outputs: the mean along the axes, and one over the deviation from it.
void add_statistics(StepList& steps, size_t x, const std::vector<size_t>& axes, const Shape& shape,
                    double epsilon, std::vector<ImportedOutput>& outputs);

}  // namespace lathe
