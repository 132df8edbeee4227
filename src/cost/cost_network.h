// What a recurrent cost model trains: a network from candidates' trees to one cost each.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cost/feature_set.h"
#include "nn/weights.h"

namespace lathe {

class CostNetwork {
 public:
  virtual ~CostNetwork() = default;

  // One cost for each of these candidates.
  virtual std::vector<float> costs(const FeatureSet& candidates, std::span<const size_t> chosen) const = 0;
  // The same; then `slope_of` gives the loss's slope by each cost, which is added to the weights' slopes.
  virtual std::vector<float> train(
      const FeatureSet& candidates, std::span<const size_t> chosen,
      const std::function<std::vector<float>(std::span<const float>)>& slope_of) = 0;
  // Always in the same order.
  virtual std::vector<nn::Weights*> weights() = 0;
  virtual std::unique_ptr<CostNetwork> copy() const = 0;
};

}  // namespace lathe
