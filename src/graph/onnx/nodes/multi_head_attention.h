// Attention as ONNX Runtime's own nodes (com.microsoft) have it.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// MultiHeadAttention: of queries [N, places, heads x size], keys and values alike or [N, heads, places,
// size], with biases of all three, a mask of keys, a bias of the products, and a past; gives the present too.
ImportedOutputs import_multi_head_attention(OnnxNode& node);
// Attention: the same of one input times the weights of all three.
ImportedOutputs import_packed_attention(OnnxNode& node);
// QAttention: the same of an input and weights that are quantized.
ImportedOutputs import_quantized_attention(OnnxNode& node);

}  // namespace lathe
