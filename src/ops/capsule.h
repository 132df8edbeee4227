// Capsule convolution: a convolution whose pixels and weights are small matrices.
#pragma once

#include <string>
#include <vector>

#include "ops/operator.h"
#include "ops/window.h"

namespace lathe {

// O[n, y, x, f, i, j] = sum_{ky, kx, c, r} P.pad[n, y*stride + ky, x*stride + kx, c, i, r] * W[ky, kx, c, f,
// r, j]; P: [N, H, W, C, i, r], W: [kh, kw, C, F, r, j].
Tensor capsule_conv2d(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
                      const Window& window);

std::vector<OperatorEntry> capsule_operators();

}  // namespace lathe
