// Nodes of ONNX Runtime (com.microsoft) around normalisations of transformers' layers.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// SkipLayerNormalization: LayerNormalization, along the last axis, of the sum of input, skip and an optional
// bias; then the sum's mean, one over its deviation, and the sum.
ImportedOutputs import_skip_layer_norm(OnnxNode& node);
// SkipSimplifiedLayerNormalization: the same by the root of the mean square alone.
ImportedOutputs import_skip_simplified_layer_norm(OnnxNode& node);
// EmbedLayerNormalization: LayerNormalization of the sum of words', places' and segments' rows; then how many
// numbers of the mask are not 0, and the sum.
ImportedOutputs import_embed_layer_norm(OnnxNode& node);

}  // namespace lathe
