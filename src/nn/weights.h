// What a network learns: numbers, and the slope of the loss by each.
#pragma once

#include <vector>

#include "base/rng.h"
#include "nn/matrix.h"

namespace lathe::nn {

struct Weights {
  Matrix value;
  Matrix slope;  // of the same shape; added to by backward passes, cleared by an optimizer's step

  // Uniform in +-sqrt(6 / (rows + columns)) (Glorot and Bengio).
  static Weights drawn(size_t rows, size_t columns, Rng& rng);
  static Weights zeros(size_t rows, size_t columns);
};

}  // namespace lathe::nn
