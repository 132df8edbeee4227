#include "nn/embedding.h"

#include <algorithm>

namespace lathe::nn {

Embedding::Embedding(size_t things, size_t width, Rng& rng) : rows_(Weights::drawn(things, width, rng)) {}

Matrix Embedding::forward(std::span<const size_t> chosen) const {
  Matrix outputs = Matrix::zeros(chosen.size(), rows_.value.columns);
  for (size_t i = 0; i < chosen.size(); ++i)
    std::copy_n(rows_.value.row(chosen[i]), outputs.columns, outputs.row(i));
  return outputs;
}

void Embedding::backward(std::span<const size_t> chosen, const Matrix& slope) {
  for (size_t i = 0; i < chosen.size(); ++i)
    for (size_t j = 0; j < slope.columns; ++j) rows_.slope.row(chosen[i])[j] += slope.row(i)[j];
}

}  // namespace lathe::nn
