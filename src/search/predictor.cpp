#include "search/predictor.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace lathe {

std::vector<double> mean_costs(const Predictor& predictor, std::span<const Point> points) {
  if (points.empty()) return {};
  std::vector<double> costs = predictor.full(points).mean;
  LATHE_CHECK(costs.size() == points.size());
  for (double& cost : costs) {
    if (std::isnan(cost)) cost = std::numeric_limits<double>::infinity();
  }
  return costs;
}

}  // namespace lathe
