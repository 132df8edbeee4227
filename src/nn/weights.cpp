#include "nn/weights.h"

#include <cmath>

namespace lathe::nn {

Weights Weights::zeros(size_t rows, size_t columns) {
  return {Matrix::zeros(rows, columns), Matrix::zeros(rows, columns)};
}

Weights Weights::drawn(size_t rows, size_t columns, Rng& rng) {
  Weights weights = zeros(rows, columns);
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  for (float& value : weights.value.values) value = static_cast<float>(bound * (2 * rng.uniform() - 1));
  return weights;
}

}  // namespace lathe::nn
