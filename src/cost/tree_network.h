// The network of `tree-gru-context`: from the loop trees of candidates to their costs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cost/feature_set.h"
#include "nn/dense.h"
#include "nn/soft_scatter.h"
#include "nn/tree_gru.h"

namespace lathe {

// How a row is read: so many numbers of the loop itself, then `per_buffer` of each buffer.
struct TreeRow {
  size_t own = 0;
  size_t per_buffer = 3;
  size_t buffers = 0;
};

class TreeNetwork {
 public:
  TreeNetwork(const TreeRow& row, size_t states, size_t slots, Rng& rng);

  // One cost for each of these candidates.
  std::vector<float> costs(const FeatureSet& candidates, std::span<const size_t> chosen) const;
  // The same; then `slope_of` gives the loss's slope by each cost, which is added to the weights' slopes.
  std::vector<float> train(const FeatureSet& candidates, std::span<const size_t> chosen,
                           const std::function<std::vector<float>(std::span<const float>)>& slope_of);
  std::vector<nn::Weights*> weights();

 private:
  struct Kept;
  Kept forward(const FeatureSet& candidates, std::span<const size_t> chosen) const;

  TreeRow row_;
  nn::Dense own_;
  nn::Dense buffer_;
  nn::TreeGru unit_;
  nn::SoftScatter scatter_;
  nn::Dense last_;
};

}  // namespace lathe
