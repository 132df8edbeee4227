// A learned row of numbers for each of so many things.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nn/weights.h"

namespace lathe::nn {

class Embedding {
 public:
  Embedding(size_t things, size_t width, Rng& rng);

  // [chosen, width]: the rows of these things, in their order.
  Matrix forward(std::span<const size_t> chosen) const;
  // Adds to the rows' slopes from the loss's slope by what `forward` gave.
  void backward(std::span<const size_t> chosen, const Matrix& slope);
  std::vector<Weights*> weights() { return {&rows_}; }

 private:
  Weights rows_;  // [things, width]
};

}  // namespace lathe::nn
