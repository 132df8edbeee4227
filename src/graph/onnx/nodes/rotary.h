// ONNX RotaryEmbedding: pairs of what a head holds are turned by angles of their places.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// Which pairs of elements of heads are turned.
struct Rotary {
  Shape shape;              // of four axes: two of heads and places, in the order of the data
  size_t heads_axis = 1;    // 1 or 2
  int64_t turned = 0;       // how many elements of each head are turned
  bool are_beside = false;  // whether the two of a pair lie side by side, not half of what is turned apart

  // Of cosines and sines: a number for each place and pair, the same for all heads.
  Shape angles() const;
};

// `data` turned, of the shape; `cosines` and `sines` as `angles` has them.
size_t add_rotary(StepList& steps, const Rotary& rotary, size_t data, size_t cosines, size_t sines);

// Of [N, heads, places, size] or, with `num_heads`, [N, places, heads x size]; the cosines and sines are
// those of each place, or are looked up by the places that the fourth input names.
ImportedOutputs import_rotary_embedding(OnnxNode& node);
// com.microsoft RotaryEmbedding: the places are its second input, one for each, or that of the first.
ImportedOutputs import_runtime_rotary_embedding(OnnxNode& node);

}  // namespace lathe
