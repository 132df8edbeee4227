// Names and axes that the operators share.
#pragma once

#include <string>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// "x", "y x" or "z y x": the spatial dimensions of an image or volume; kernels get "kx" and so on.
std::vector<std::string> spatial_names(size_t count, const std::string& prefix = "");

// A spatial axis for each dimension: n, c and the spatial names for images (n y x c, and i j of a capsule,
// where channels come last), i j k or d0 d1 .. for others.
std::vector<Axis> axes_of(const Tensor& tensor, bool channels_last = false);

// The axes' variables as indices.
std::vector<Affine> indices(const std::vector<Axis>& axes);

}  // namespace lathe
