// ONNX nodes that multiply quantized numbers: sums of products of integers of 8 bits in i32, which the
// machine's own instructions for such products compute. A number stands for its difference to a zero point;
// what the zero points come to is added to the sums, or, where that would take as many products again,
// taken off before.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX MatMulInteger: i32 of a [.., m, k] and b [.., k, n], with zero points a number or one for each row of
// a and each column of b.
ImportedOutputs import_matmul_integer(OnnxNode& node);
// ONNX QLinearMatMul: the same, scaled and rounded to the type of the result's zero point.
ImportedOutputs import_qlinear_matmul(OnnxNode& node);
// ONNX ConvInteger: i32 of data [N, C, ..] and weights [M, C / groups, ..], whose zero points may be one for
// each of M.
ImportedOutputs import_conv_integer(OnnxNode& node);
// ONNX QLinearConv: the same, with a bias of i32, scaled and rounded to the type of the result's zero point.
ImportedOutputs import_qlinear_conv(OnnxNode& node);
// com.microsoft QGemm: as QLinearMatMul of two matrices, each possibly turned, with a bias of i32; without a
// scale of the result it is f32.
ImportedOutputs import_qgemm(OnnxNode& node);

}  // namespace lathe
