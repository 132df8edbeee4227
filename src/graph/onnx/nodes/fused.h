// Nodes of ONNX Runtime (com.microsoft) that are several of ONNX's own in one.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// FusedMatMul: alpha times the product of two stacks of matrices, each possibly turned, its rows' axis the
// last but one or before those of the stack.
ImportedOutputs import_fused_matmul(OnnxNode& node);
// FusedConv: a Conv, to which a fourth input is added before its activation.
ImportedOutputs import_fused_conv(OnnxNode& node);
// FusedGemm: a Gemm and its activation.
ImportedOutputs import_fused_gemm(OnnxNode& node);
// BiasGelu, FastGelu (by tanh): Gelu of the sum of the inputs, the second of which FastGelu may lack.
ImportedOutputs import_bias_gelu(OnnxNode& node);
ImportedOutputs import_fast_gelu(OnnxNode& node);
// QuickGelu: x times the sigmoid of alpha x.
ImportedOutputs import_quick_gelu(OnnxNode& node);

}  // namespace lathe
