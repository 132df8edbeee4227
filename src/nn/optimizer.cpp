#include "nn/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace lathe::nn {
namespace {

// One list of zeros for each weight, at the first step.
void prepare(std::span<Weights* const> weights, std::vector<std::vector<float>>& kept) {
  if (kept.empty())
    for (const Weights* each : weights) kept.emplace_back(each->value.values.size(), 0.0F);
  LATHE_CHECK(kept.size() == weights.size());
}

}  // namespace

void AdaDelta::step(std::span<Weights* const> weights) {
  prepare(weights, slopes_);
  prepare(weights, changes_);
  for (size_t w = 0; w < weights.size(); ++w) {
    std::vector<float>& values = weights[w]->value.values;
    std::vector<float>& slopes = weights[w]->slope.values;
    for (size_t i = 0; i < values.size(); ++i) {
      float& squares = slopes_[w][i];
      float& steps = changes_[w][i];
      squares = options_.rho * squares + (1 - options_.rho) * slopes[i] * slopes[i];
      const float change =
          std::sqrt(steps + options_.epsilon) / std::sqrt(squares + options_.epsilon) * slopes[i];
      steps = options_.rho * steps + (1 - options_.rho) * change * change;
      values[i] -= options_.rate * change;
    }
    std::ranges::fill(slopes, 0.0F);
  }
}

void Adam::step(std::span<Weights* const> weights) {
  prepare(weights, means_);
  prepare(weights, squares_);
  ++steps_;
  const float first = 1 - std::pow(options_.first, static_cast<float>(steps_));
  const float second = 1 - std::pow(options_.second, static_cast<float>(steps_));
  for (size_t w = 0; w < weights.size(); ++w) {
    std::vector<float>& values = weights[w]->value.values;
    std::vector<float>& slopes = weights[w]->slope.values;
    for (size_t i = 0; i < values.size(); ++i) {
      float& mean = means_[w][i];
      float& square = squares_[w][i];
      mean = options_.first * mean + (1 - options_.first) * slopes[i];
      square = options_.second * square + (1 - options_.second) * slopes[i] * slopes[i];
      values[i] -= options_.rate * (mean / first) / (std::sqrt(square / second) + options_.epsilon);
    }
    std::ranges::fill(slopes, 0.0F);
  }
}

}  // namespace lathe::nn
