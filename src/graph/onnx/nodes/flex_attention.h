// ONNX FlexAttention, of the domain ai.onnx.preview: its bodies stand between plain nodes.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "graph/onnx/nodes/node_writer.h"

namespace lathe {

bool is_flex_attention(const onnx::NodeProto& node);

// Adds what the node computes: products of queries and keys, `score_mod` of them, their Softmax, `prob_mod`
// of it, products with the values. `nodes`: as in control_flow.h.
Status add_flex_attention(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes);

}  // namespace lathe
