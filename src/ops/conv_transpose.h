// Transposed convolutions: the gradient of a convolution with regard to its input.
#pragma once

#include <string>
#include <vector>

#include "ops/operator.h"
#include "ops/window.h"

namespace lathe {

// O[n, f, x..] = sum_{c, k : (x + padding - k * dilation) divisible by stride} I[n, c, (x + padding - k *
// dilation)/stride ..] * W[c, f, k..], as three computes: the input spread out by the stride, padded by what
// the kernel reaches over less the padding, and convolved with the flipped kernel. I: [N, C, spatial], W: [C,
// F / groups, k..]; as many channels as maps go to each group. The window's paddings are the forward
// convolution's.
Tensor conv_transpose(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
                      const Window& window, int64_t groups = 1);

std::vector<OperatorEntry> conv_transpose_operators();

}  // namespace lathe
