// Transposed convolutions: the gradient of a convolution with regard to its input.
#pragma once

#include <string>
#include <vector>

#include "ops/operator.h"
#include "ops/window.h"

namespace lathe {

// O[n, f, x..] = sum_{c, k : (x + padding - k) divisible by stride} I[n, c, (x + padding - k)/stride ..] *
// W[c, f, k..], as three computes: the input spread out by the stride, padded by kernel-1-padding, and
// convolved with the flipped kernel. Dilation is not supported. I: [N, C, spatial], W: [C, F, k..]; the
// window's paddings are the forward convolution's.
Tensor conv_transpose(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
                      const Window& window);

std::vector<OperatorEntry> conv_transpose_operators();

}  // namespace lathe
