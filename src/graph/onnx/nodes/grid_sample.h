// ONNX GridSample: images read at places that an operand names.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// Of x [N, C, spatial..] and a grid [N, places.., axes] of coordinates from -1 to 1, the last axis' first, in
// all its modes, of one to three spatial axes: rows of all channels are looked up, one for each place around
// the coordinate, and weighted.
ImportedOutputs import_grid_sample(OnnxNode& node);

}  // namespace lathe
