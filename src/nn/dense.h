// A fully connected layer: y = x W + b for every row x.
#pragma once

#include <vector>

#include "nn/weights.h"

namespace lathe::nn {

class Dense {
 public:
  Dense(size_t inputs, size_t outputs, Rng& rng);

  // [rows, inputs] -> [rows, outputs].
  Matrix forward(const Matrix& inputs) const;
  // From the loss's slope by what `forward` gave for these inputs: adds to the weights' slopes, and gives the
  // slope by the inputs.
  Matrix backward(const Matrix& inputs, const Matrix& slope);
  std::vector<Weights*> weights() { return {&matrix_, &bias_}; }

 private:
  Weights matrix_;  // [inputs, outputs]
  Weights bias_;    // [1, outputs]
};

// max(x, 0) in place, and the slope by x from that by max(x, 0), in place.
void rectify(Matrix& values);
void rectify_slope(const Matrix& rectified, Matrix& slope);

}  // namespace lathe::nn
