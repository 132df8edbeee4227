#include "search/parts/incumbent.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "search/acquisition.h"

namespace lathe {

void Incumbent::observe(std::span<const Trial> trials) {
  for (const Trial& trial : trials) {
    if (!std::isfinite(trial.seconds)) continue;
    if (!best_ || trial.seconds < best_->seconds) best_ = trial;
  }
}

std::vector<double> Incumbent::costs(const Predictor& predictor, std::span<const Point> points,
                                     const std::string& acquisition, double kappa) const {
  if (points.empty()) return {};
  std::vector<Point> asked(points.begin(), points.end());
  const bool against_best = acquisition == "ei" && best_;
  if (against_best) asked.push_back(best_->point);
  Prediction prediction = predictor.full(asked);
  LATHE_CHECK(prediction.mean.size() == asked.size());
  double best = std::numeric_limits<double>::infinity();
  if (against_best) {
    best = prediction.mean.back();
    prediction.mean.pop_back();
    prediction.stddev.pop_back();
  }
  std::vector<double> costs = acquisition_costs(
      std::isfinite(best) || acquisition != "ei" ? acquisition : "mean", prediction, best, kappa);
  for (size_t i = 0; i < costs.size(); ++i)
    if (!std::isfinite(prediction.mean[i]) || std::isnan(costs[i]))
      costs[i] = std::numeric_limits<double>::infinity();
  return costs;
}

}  // namespace lathe
