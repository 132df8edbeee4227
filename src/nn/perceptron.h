// A multi-layer perceptron: fully connected layers with max(x, 0) between them.
#pragma once

#include <vector>

#include "nn/dense.h"

namespace lathe::nn {

class Perceptron {
 public:
  // From `widths[0]` inputs through widths[1], ... to widths.back() outputs; two widths at least.
  Perceptron(const std::vector<size_t>& widths, Rng& rng);

  // [rows, widths[0]] -> [rows, widths.back()].
  Matrix forward(const Matrix& inputs) const;
  // What every layer took, and what the last one gave: as `backward` wants it.
  std::vector<Matrix> forward_kept(const Matrix& inputs) const;
  // Adds to the weights' slopes from the loss's slope by the outputs; gives the slope by the inputs.
  Matrix backward(const std::vector<Matrix>& kept, Matrix slope);
  std::vector<Weights*> weights();

 private:
  std::vector<Dense> layers_;
};

}  // namespace lathe::nn
