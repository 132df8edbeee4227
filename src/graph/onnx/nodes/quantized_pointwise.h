// Nodes of ONNX Runtime (com.microsoft) that compute with quantized tensors what other nodes compute with
// real numbers: each operand stands for real numbers, and the result is rounded to its own scale and zero
// point.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// QLinearAdd, QLinearMul: of two tensors that broadcast.
ImportedOutputs import_qlinear_add(OnnxNode& node);
ImportedOutputs import_qlinear_mul(OnnxNode& node);
// QLinearSigmoid, QLinearLeakyRelu, QLinearSoftmax.
ImportedOutputs import_qlinear_sigmoid(OnnxNode& node);
ImportedOutputs import_qlinear_leaky_relu(OnnxNode& node);
ImportedOutputs import_qlinear_softmax(OnnxNode& node);
// QLinearReduceMean.
ImportedOutputs import_qlinear_reduce_mean(OnnxNode& node);
// QLinearAveragePool, QLinearGlobalAveragePool: of [N, C, ..].
ImportedOutputs import_qlinear_average_pool(OnnxNode& node);
ImportedOutputs import_qlinear_global_average_pool(OnnxNode& node);
// QLinearConcat: behind scale and zero point of the result three inputs for each part.
ImportedOutputs import_qlinear_concat(OnnxNode& node);
// QLinearWhere: a condition, and three inputs for each of the two that it chooses from.
ImportedOutputs import_qlinear_where(OnnxNode& node);

}  // namespace lathe
