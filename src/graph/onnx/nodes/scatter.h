// ONNX nodes that name places of a tensor by indices: those that write there, and GatherND.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX ScatterElements (Scatter before operator set 11) and ScatterND. Of several updates of one place the
// last one stays, or all are added, multiplied or compared, as the node's `reduction` says. By constant
// indices each element of the result is taken from the data or from an update; of others, which write nothing
// where they lie beyond the axis, each place looks at each update.
ImportedOutputs import_scatter_elements(OnnxNode& node);
ImportedOutputs import_scatter_nd(OnnxNode& node);
// ONNX GatherND, of any indices. Constant ones lie inside of the data; computed ones are taken modulo the
// number of all places.
ImportedOutputs import_gather_nd(OnnxNode& node);

}  // namespace lathe
