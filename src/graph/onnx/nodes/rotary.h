// ONNX RotaryEmbedding: pairs of what a head holds are turned by angles of their places.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// Of [N, heads, places, size] or, with `num_heads`, [N, places, heads x size]; the cosines and sines are
// those of each place, or are looked up by the places that the fourth input names.
ImportedOutputs import_rotary_embedding(OnnxNode& node);

}  // namespace lathe
