// Softmax and attention scores.
#pragma once

#include <string>
#include <vector>

#include "ops/operator.h"

namespace lathe {

// exp(x - max) / sum of these, over the last axis, as four computes: NAME.max, NAME.exp, NAME.sum, NAME.
Tensor softmax(DagBuilder& builder, const std::string& name, const Tensor& x);
// softmax(Q K^T) of Q and K, [batch, sequence, heads, head_dim], each transposed to [batch, heads, sequence,
// head_dim] by a compute of its own.
Tensor transpose_batch_matmul_softmax(DagBuilder& builder, const std::string& name, const Tensor& q,
                                      const Tensor& k);

std::vector<OperatorEntry> softmax_operators();

}  // namespace lathe
