#include "search/acquisition.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace lathe {

const std::vector<std::string>& acquisition_names() {
  static const std::vector<std::string> names{"mean", "ei", "ucb"};
  return names;
}

double expected_improvement(double mean, double stddev, double best) {
  const double gain = best - mean;
  if (!(stddev > 0)) return std::max(gain, 0.0);
  const double z = gain / stddev;
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return gain * below + stddev * density;
}

std::vector<double> acquisition_costs(const std::string& name, const Prediction& prediction, double best,
                                      double kappa) {
  std::vector<double> costs = prediction.mean;
  if (name == "mean") return costs;
  LATHE_CHECK(prediction.stddev.size() == costs.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    const double stddev = prediction.stddev[i];
    costs[i] = name == "ei" ? -expected_improvement(costs[i], stddev, best) : costs[i] - kappa * stddev;
  }
  return costs;
}

}  // namespace lathe
