// Matrix and vector products.
#pragma once

#include <string>
#include <vector>

#include "expr/dag.h"
#include "ops/operator.h"

namespace lathe {

// The product of two elements as sums of products take it: as `sums` where these are integers of 8 bits.
Expr widened_product(const Expr& a, const Expr& b, DType sums = DType::i32);
// C[i, j] = sum_r A[i, r] * B[r, j]; with a leading batch axis where A and B have one.
Tensor matmul(DagBuilder& builder, std::string name, const Tensor& a, const Tensor& b);
// y[i] = sum_r A[i, r] * x[r].
Tensor gemv(DagBuilder& builder, std::string name, const Tensor& a, const Tensor& x);
// O[b, f] = sum_{r,s} X[b, r] * W[f, r, s] * Y[b, s].
Tensor bilinear(DagBuilder& builder, std::string name, const Tensor& x, const Tensor& w, const Tensor& y);

std::vector<OperatorEntry> matmul_operators();

}  // namespace lathe
