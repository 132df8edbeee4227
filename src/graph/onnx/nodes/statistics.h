// ONNX nodes over all elements along some axes that become more than one operator.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"
#include "graph/operators/reduce.h"

namespace lathe {

// ONNX BatchNormalization: in training mode by the statistics of the data themselves, and with the running
// ones that these move.
ImportedOutputs import_batch_norm_outputs(OnnxNode& node);
// ONNX ReduceMax and ReduceMin, of bool too, and all other reductions.
ImportedOutputs import_any_reduce(OnnxNode& node, ReduceFunction function);
template <ReduceFunction function>
ImportedOutputs import_any_reduce_of(OnnxNode& node) {
  return import_any_reduce(node, function);
}

}  // namespace lathe
