#include "nn/soft_scatter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace lathe::nn {
namespace {

void softmax(float* values, size_t count) {
  const float largest = *std::max_element(values, values + count);
  float sum = 0;
  for (size_t i = 0; i < count; ++i) sum += values[i] = std::exp(values[i] - largest);
  for (size_t i = 0; i < count; ++i) values[i] /= sum;
}

}  // namespace

SoftScatter::Kept SoftScatter::forward(const Matrix& states, const std::vector<size_t>& trees,
                                       size_t count) const {
  LATHE_CHECK(trees.size() == states.rows);
  const size_t slots = weights_.value.columns;
  Kept kept{states, Matrix::zeros(states.rows, slots), trees, Matrix::zeros(count, slots * states.columns)};
  add_product(states, weights_.value, kept.shares);
  for (size_t node = 0; node < states.rows; ++node) {
    softmax(kept.shares.row(node), slots);
    const float* state = states.row(node);
    for (size_t slot = 0; slot < slots; ++slot) {
      float* into = kept.outputs.row(trees[node]) + slot * states.columns;
      const float share = kept.shares.row(node)[slot];
      for (size_t j = 0; j < states.columns; ++j) into[j] += share * state[j];
    }
  }
  return kept;
}

Matrix SoftScatter::backward(const Kept& kept, const Matrix& slope) {
  const size_t slots = weights_.value.columns;
  const size_t columns = kept.states.columns;
  Matrix by_states = Matrix::zeros(kept.states.rows, columns);
  Matrix by_scores = Matrix::zeros(kept.states.rows, slots);
  for (size_t node = 0; node < kept.states.rows; ++node) {
    const float* shares = kept.shares.row(node);
    float* by_share = by_scores.row(node);
    float mean = 0;
    for (size_t slot = 0; slot < slots; ++slot) {
      const float* by_slot = slope.row(kept.trees[node]) + slot * columns;
      for (size_t j = 0; j < columns; ++j) {
        by_share[slot] += by_slot[j] * kept.states.row(node)[j];
        by_states.row(node)[j] += shares[slot] * by_slot[j];
      }
      mean += shares[slot] * by_share[slot];
    }
    for (size_t slot = 0; slot < slots; ++slot) by_share[slot] = shares[slot] * (by_share[slot] - mean);
  }
  add_product_of_transposed(kept.states, by_scores, weights_.slope);
  add_product_with_transposed(by_scores, weights_.value, by_states);
  return by_states;
}

}  // namespace lathe::nn
