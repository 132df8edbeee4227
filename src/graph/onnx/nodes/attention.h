// ONNX Attention: scaled products of queries and keys, masked, their Softmax, products with the values.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// Of f32, with masks of numbers or bool, a past or numbers of keys that count, fewer heads of keys and values
// than of queries, and windows; the outputs are the result, keys and values with the past before them, and
// the products as far as `qk_matmul_output_mode` says.
ImportedOutputs import_attention(OnnxNode& node);

}  // namespace lathe
