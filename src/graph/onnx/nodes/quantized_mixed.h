// ONNX Runtime's nodes that make real numbers of integers that stand for them: products of matrices, and
// lookups.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// com.microsoft MatMulIntegerToFloat: two quantized matrices, with a bias.
ImportedOutputs import_matmul_integer_to_float(OnnxNode& node);
// com.microsoft DynamicQuantizeMatMul: the same, of a real first matrix that its own range quantizes.
ImportedOutputs import_dynamic_quantize_matmul(OnnxNode& node);
// com.microsoft MatMulNBits: a real matrix by constant weights of 2, 4 or 8 bits, which have a scale for each
// block of them; they become real numbers when the model is read.
ImportedOutputs import_matmul_nbits(OnnxNode& node);
// com.microsoft GatherBlockQuantized: a lookup in a constant table whose numbers are packed and scaled alike,
// along its last axis.
ImportedOutputs import_gather_block_quantized(OnnxNode& node);

}  // namespace lathe
