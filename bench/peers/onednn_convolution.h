// Convolutions of all kinds as oneDNN takes them.
#pragma once

#include <optional>

#include "bench/peers/onednn_plan.h"

namespace lathe::peers {

// Shapes as the library counts them: the weights of grouped convolutions begin with the groups, those of
// transposed ones with the output's channels; a dilation of 0 means that there is none.
struct Convolution {
  bool is_transposed = false;
  bool is_fused = false;  // scale, shift and ReLU follow
  Dims input = {};
  Dims weights = {};
  Dims output = {};
  Dims strides = {};
  Dims dilations = {};
  Dims padding = {};
};

// None where the operator is no convolution.
std::optional<Convolution> convolution_of(const Entry& entry);

// Throws dnnl::error where the library does not have it.
Plan plan_convolution(const Convolution& convolution, const Request& request, bool by_winograd,
                      const dnnl::engine& engine);

}  // namespace lathe::peers
