#include "cost/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
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

// The places in `chosen` of each task's candidates.
std::vector<std::vector<size_t>> places_of_tasks(const CostSamples& samples, std::span<const size_t> chosen) {
  std::map<int, std::vector<size_t>> places;
  for (size_t k = 0; k < chosen.size(); ++k) places[samples.tasks[chosen[k]]].push_back(k);
  std::vector<std::vector<size_t>> result;
  for (auto& [task, candidates] : places) result.push_back(std::move(candidates));
  return result;
}

Objective rank(const CostSamples& samples, const std::vector<size_t>& chosen) {
  return [&seconds = samples.seconds, chosen, tasks = places_of_tasks(samples, chosen)](
             std::span<const float> predictions, std::span<float> gradient, std::span<float> hessian) {
    for (const std::vector<size_t>& places : tasks) {
      std::vector<double> cost;
      std::vector<float> prediction;
      std::vector<float> first(places.size(), 0.0F);
      std::vector<float> second(places.size(), 0.0F);
      for (const size_t k : places) {
        cost.push_back(seconds[chosen[k]]);
        prediction.push_back(predictions[k]);
      }
      add_rank_gradient(cost, prediction, first, second);
      for (size_t i = 0; i < places.size(); ++i) {
        gradient[places[i]] = first[i];
        hessian[places[i]] = second[i];
      }
    }
  };
}

// Squared errors; where they are weighted, by how good a candidate is.
Objective squared(const CostSamples& samples, const std::vector<size_t>& chosen, bool weighted) {
  const std::vector<float> all = relative_costs(samples);
  std::vector<float> some;
  for (const size_t i : chosen) some.push_back(all[i]);
  return [costs = std::move(some), weighted](std::span<const float> predictions, std::span<float> gradient,
                                             std::span<float> hessian) {
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

Objective make_objective(const std::string& name, const CostSamples& samples,
                         std::span<const size_t> chosen) {
  LATHE_CHECK(std::ssize(samples.seconds) == samples.size() && std::ssize(samples.tasks) == samples.size());
  std::vector<size_t> places(chosen.begin(), chosen.end());
  if (places.empty()) {
    places.resize(samples.seconds.size());
    std::iota(places.begin(), places.end(), size_t{0});
  }
  return name == "rank" ? rank(samples, places) : squared(samples, places, name == "pack-sum");
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
