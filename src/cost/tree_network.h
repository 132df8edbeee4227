// The network of `tree-gru-context`: from the loop trees of candidates to their costs.
#pragma once

#include <cstddef>

#include "cost/cost_network.h"
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

class TreeNetwork : public CostNetwork {
 public:
  TreeNetwork(const TreeRow& row, size_t states, size_t slots, Rng& rng);

  std::vector<float> costs(const FeatureSet& candidates, std::span<const size_t> chosen) const override;
  std::vector<float> train(
      const FeatureSet& candidates, std::span<const size_t> chosen,
      const std::function<std::vector<float>(std::span<const float>)>& slope_of) override;
  std::vector<nn::Weights*> weights() override;
  std::unique_ptr<CostNetwork> copy() const override { return std::make_unique<TreeNetwork>(*this); }

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
