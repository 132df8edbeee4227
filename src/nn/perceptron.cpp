#include "nn/perceptron.h"

#include <utility>

#include "base/check.h"

namespace lathe::nn {

Perceptron::Perceptron(const std::vector<size_t>& widths, Rng& rng) {
  LATHE_CHECK(widths.size() >= 2);
  for (size_t i = 0; i + 1 < widths.size(); ++i) layers_.emplace_back(widths[i], widths[i + 1], rng);
}

Matrix Perceptron::forward(const Matrix& inputs) const { return forward_kept(inputs).back(); }

std::vector<Matrix> Perceptron::forward_kept(const Matrix& inputs) const {
  std::vector<Matrix> kept{inputs};
  for (size_t i = 0; i < layers_.size(); ++i) {
    Matrix outputs = layers_[i].forward(kept.back());
    if (i + 1 < layers_.size()) rectify(outputs);
    kept.push_back(std::move(outputs));
  }
  return kept;
}

Matrix Perceptron::backward(const std::vector<Matrix>& kept, Matrix slope) {
  LATHE_CHECK(kept.size() == layers_.size() + 1);
  for (size_t i = layers_.size(); i-- > 0;) {
    if (i + 1 < layers_.size()) rectify_slope(kept[i + 1], slope);
    slope = layers_[i].backward(kept[i], slope);
  }
  return slope;
}

std::vector<Weights*> Perceptron::weights() {
  std::vector<Weights*> all;
  for (Dense& layer : layers_)
    for (Weights* each : layer.weights()) all.push_back(each);
  return all;
}

}  // namespace lathe::nn
