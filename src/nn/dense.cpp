#include "nn/dense.h"

#include <algorithm>

namespace lathe::nn {

Dense::Dense(size_t inputs, size_t outputs, Rng& rng)
    : matrix_(Weights::drawn(inputs, outputs, rng)), bias_(Weights::zeros(1, outputs)) {}

Matrix Dense::forward(const Matrix& inputs) const {
  Matrix outputs = Matrix::zeros(inputs.rows, bias_.value.columns);
  for (size_t i = 0; i < outputs.rows; ++i) std::ranges::copy(bias_.value.values, outputs.row(i));
  add_product(inputs, matrix_.value, outputs);
  return outputs;
}

Matrix Dense::backward(const Matrix& inputs, const Matrix& slope) {
  add_product_of_transposed(inputs, slope, matrix_.slope);
  for (size_t i = 0; i < slope.rows; ++i)
    for (size_t j = 0; j < slope.columns; ++j) bias_.slope.values[j] += slope.row(i)[j];
  Matrix by_inputs = Matrix::zeros(inputs.rows, inputs.columns);
  add_product_with_transposed(slope, matrix_.value, by_inputs);
  return by_inputs;
}

void rectify(Matrix& values) {
  for (float& value : values.values) value = std::max(value, 0.0F);
}

void rectify_slope(const Matrix& rectified, Matrix& slope) {
  for (size_t i = 0; i < slope.values.size(); ++i)
    if (rectified.values[i] <= 0) slope.values[i] = 0;
}

}  // namespace lathe::nn
