#include "cost/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"
#include "cost/rank_loss.h"

namespace lathe {
namespace {

// The candidates of each task.
std::vector<std::vector<size_t>> members_of_tasks(const CostSamples& samples) {
  std::map<int, std::vector<size_t>> members;
  for (size_t i = 0; i < samples.tasks.size(); ++i) members[samples.tasks[i]].push_back(i);
  std::vector<std::vector<size_t>> result;
  for (auto& [task, candidates] : members) result.push_back(std::move(candidates));
  return result;
}

Objective rank(const CostSamples& samples) {
  return [&seconds = samples.seconds, tasks = members_of_tasks(samples)](
             std::span<const float> predictions, std::span<float> gradient, std::span<float> hessian) {
    for (const std::vector<size_t>& members : tasks) {
      std::vector<double> cost;
      std::vector<float> prediction;
      std::vector<float> first(members.size(), 0.0F);
      std::vector<float> second(members.size(), 0.0F);
      for (const size_t i : members) {
        cost.push_back(seconds[i]);
        prediction.push_back(predictions[i]);
      }
      add_rank_gradient(cost, prediction, first, second);
      for (size_t k = 0; k < members.size(); ++k) {
        gradient[members[k]] = first[k];
        hessian[members[k]] = second[k];
      }
    }
  };
}

// Squared errors; where they are weighted, by how good a candidate is.
Objective squared(const CostSamples& samples, bool weighted) {
  return [costs = relative_costs(samples), weighted](std::span<const float> predictions,
                                                     std::span<float> gradient, std::span<float> hessian) {
    constexpr float kLeastWeight = 1e-6F;  // a failure's: it must not vanish from the second derivatives
    for (size_t i = 0; i < costs.size(); ++i) {
      const float weight = weighted ? std::max(-costs[i], kLeastWeight) : 1;
      gradient[i] = weight * (predictions[i] - costs[i]);
      hessian[i] = weight;
    }
  };
}

}  // namespace

const std::vector<std::string>& objective_names() {
  static const std::vector<std::string> names{"rank", "regression", "pack-sum"};
  return names;
}

Objective make_objective(const std::string& name, const CostSamples& samples) {
  LATHE_CHECK(std::ssize(samples.seconds) == samples.size() && std::ssize(samples.tasks) == samples.size());
  return name == "rank" ? rank(samples) : squared(samples, name == "pack-sum");
}

bool anything_to_learn(const CostSamples& samples) {
  return std::ranges::any_of(members_of_tasks(samples), [&](const std::vector<size_t>& members) {
    return std::ranges::any_of(
        members, [&](size_t i) { return samples.seconds[i] != samples.seconds[members.front()]; });
  });
}

std::vector<float> relative_costs(const CostSamples& samples) {
  std::vector<float> costs(samples.seconds.size(), 0.0F);
  for (const std::vector<size_t>& members : members_of_tasks(samples)) {
    double best = std::numeric_limits<double>::infinity();
    for (const size_t i : members) best = std::min(best, samples.seconds[i]);
    for (const size_t i : members)
      if (std::isfinite(samples.seconds[i])) costs[i] = -static_cast<float>(best / samples.seconds[i]);
  }
  return costs;
}

}  // namespace lathe
