// Attention as ONNX Runtime's GroupQueryAttention has it: neighbouring heads of queries share keys and
// values.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// com.microsoft GroupQueryAttention: causal, of sequences that end at places of their own, behind a past that
// the present, which it gives too, holds in front. Queries and keys may be turned by their places.
ImportedOutputs import_group_query_attention(OnnxNode& node);

}  // namespace lathe
