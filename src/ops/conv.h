// Convolutions in one to three dimensions (cross-correlations), channels first.
#pragma once

#include <string>
#include <vector>

#include "ops/operator.h"
#include "ops/window.h"

namespace lathe {

// O[n, f, x..] = sum_{c, k..} I.pad[n, g*C/groups + c, x*stride + k*dilation ..] * W[f, c, k..] with g the
// group of f; I: [N, C, spatial], W: [F, C/groups, k..]. I.pad holds `beside` beside I. Integers are added up
// as `sums`.
Tensor conv(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
            const Window& window, int64_t groups = 1, double beside = 0.0, DType sums = DType::i32);
// O[n, c*M + m, y, x] = sum_{ky, kx} I.pad[n, c, ..] * W[c, m, ky, kx]; W: [C, M, k..].
Tensor depthwise_conv(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
                      const Window& window);

std::vector<OperatorEntry> conv_operators();

// The sizes of an input's spatial dimensions among an operator's parameters: length, or height and width,
// with depth before them; and the parameters of those names.
std::vector<int64_t> spatial_extents(const Parameters& p, size_t dimensions);
std::vector<OperatorParameter> spatial_parameters(size_t dimensions);

}  // namespace lathe
