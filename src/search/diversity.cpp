#include "search/diversity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/hash.h"

namespace lathe {
namespace {

uint64_t component(const Point& point, size_t slot) {
  return Hasher().add(point.sketch).add(static_cast<uint64_t>(slot)).add(point.integers[slot]).finish();
}

std::vector<double> scaled(std::span<const double> costs) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (double cost : costs) {
    if (!std::isfinite(cost)) continue;
    least = std::min(least, cost);
    most = std::max(most, cost);
  }
  std::vector<double> result(costs.begin(), costs.end());
  for (double& cost : result) {
    if (std::isfinite(cost)) cost = most > least ? (cost - least) / (most - least) : 0.0;
  }
  return result;
}

}  // namespace

double DiverseSet::gain(const Point& point, double cost, double alpha) const {
  int uncovered = 0;
  for (size_t slot = 0; slot < point.integers.size(); ++slot)
    uncovered += !covered_.contains(component(point, slot));
  return -cost + alpha * uncovered;
}

void DiverseSet::add(const Point& point) {
  for (size_t slot = 0; slot < point.integers.size(); ++slot) covered_.insert(component(point, slot));
}

std::vector<size_t> choose_diverse(std::span<const Point> points, std::span<const double> costs, int count,
                                   double diversity, DiverseSet& set) {
  LATHE_CHECK(points.size() == costs.size());
  const std::vector<double> scale = scaled(costs);
  std::vector<size_t> open;
  for (size_t i = 0; i < points.size(); ++i) {
    if (std::isfinite(scale[i])) open.push_back(i);
  }
  std::vector<size_t> chosen;
  while (std::ssize(chosen) < count && !open.empty()) {
    size_t best = 0;
    double best_gain = -std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < open.size(); ++k) {
      const Point& point = points[open[k]];
      const double alpha = diversity / std::max<double>(1.0, static_cast<double>(point.integers.size()));
      const double gain = set.gain(point, scale[open[k]], alpha);
      if (gain > best_gain || (gain == best_gain && scale[open[k]] < scale[open[best]])) {
        best = k;
        best_gain = gain;
      }
    }
    set.add(points[open[best]]);
    chosen.push_back(open[best]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chosen;
}

}  // namespace lathe
