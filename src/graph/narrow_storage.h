// Graph to graph: tensors kept in f16 or bf16 in place of f32, on request (`--precision`). What is computed
// stays f32: an operator that reads such a tensor widens its elements where it reads them (`infer_type`), and
// what is stored is rounded once, where it is written. Inputs and outputs keep their types.
#pragma once

#include "expr/type.h"
#include "graph/graph.h"

namespace lathe {

struct NarrowStorage {
  DType dtype = DType::bf16;  // f16 or bf16
  // Also what is computed and read by products: where the machine multiplies such numbers at once. Elsewhere
  // a product would widen its data element by element, and take two to four times as long.
  bool activations = false;
};

// Weights of products (Conv, ConvTranspose, Gemm, MatMul, Einsum) and tables of Gather are stored narrow, but
// for those with a number beyond the type, which a note names. With `activations` also the data of
// products: their producer's result is rounded, and all that reads it reads that; likewise what lies before
// and behind it and only moves its elements. What a softmax, a normalisation or a reduction reads is narrow
// only where a product reads it too. Simplify the graph first. Idempotent.
Graph narrow_storage(const Graph& graph, const NarrowStorage& storage);

}  // namespace lathe
