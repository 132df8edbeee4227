#include "search/confidence_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace lathe {
namespace {

std::vector<double> bounds(std::span<const double> rewards, std::span<const int> rounds, double exploration) {
  LATHE_CHECK(rewards.size() == rounds.size());
  const double all = std::accumulate(rounds.begin(), rounds.end(), 0.0);
  std::vector<double> result;
  for (size_t i = 0; i < rewards.size(); ++i) {
    result.push_back(rounds[i] > 0 ? confidence_bound(rewards[i], rounds[i], all, exploration)
                                   : std::numeric_limits<double>::infinity());
  }
  return result;
}

}  // namespace

double confidence_bound(double reward, double own, double all, double exploration) {
  return reward + exploration * std::sqrt(2 * std::log(all) / own);
}

std::vector<double> sketch_bounds(std::span<const double> best_seconds, std::span<const int> rounds,
                                  double exploration) {
  std::vector<double> rewards(best_seconds.size(), 0);
  const double best = best_seconds.empty() ? 0 : std::ranges::min(best_seconds);
  for (size_t i = 0; i < rewards.size(); ++i)
    if (std::isfinite(best_seconds[i])) rewards[i] = best / best_seconds[i];
  return bounds(rewards, rounds, exploration);
}

std::vector<double> task_bounds(std::span<const double> steepness, std::span<const int> rounds,
                                double exploration) {
  std::vector<double> rewards(steepness.size(), 1);
  const double steepest = steepness.empty() ? 0 : std::ranges::max(steepness);
  for (size_t i = 0; steepest > 0 && i < rewards.size(); ++i) rewards[i] = steepness[i] / steepest;
  return bounds(rewards, rounds, exploration);
}

}  // namespace lathe
