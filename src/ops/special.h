// Operators that stand alone: a matrix norm, FlexTensor's block-circulant matrix and its shift.
#pragma once

#include <string>
#include <vector>

#include "ops/operator.h"

namespace lathe {

// o[b] = sqrt(sum_{i,j} A[b, i, j]^2), as two computes: NAME.sum and NAME.
Tensor frobenius_norm(DagBuilder& builder, const std::string& name, const Tensor& a);

// Every full block x block part of a matrix replaced by the circulant matrix of the mean of its diagonals; 0
// outside the full blocks. Two computes: the diagonals' means NAME.mean and NAME.
Tensor block_circulant_matrix(DagBuilder& builder, const std::string& name, const Tensor& a, int64_t block);

// O[n, h, w, c] = I[n, h + (s[c] / kernel)*dilation - p, w + (s[c] % kernel)*dilation - p, c] with zero
// padding p = dilation*(kernel-1)/2; s: [channels] i32 within [0, kernel*kernel).
Tensor shift_conv2d(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& s,
                    int64_t kernel, int64_t dilation);

std::vector<OperatorEntry> special_operators();

}  // namespace lathe
