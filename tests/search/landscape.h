// A synthetic search problem with a known optimum, for tests of strategies.
#pragma once

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

#include "search/strategy.h"

namespace lathe {

// Two sketches with the parameters of a tiled matmul; the second is half as fast everywhere. Seconds grow
// with the distance from a best tiling in octaves and with wrong choices. About 1e10 points.
class Landscape {
 public:
  static SearchSpace space() {
    const Domain domain{{{"i", SplitParameter{1024, 4, false, 64}},
                         {"j", SplitParameter{1000, 3, true, 64}},
                         {"k", SplitParameter{512, 2, false, 64}},
                         {"unroll", OrderedParameter{{0, 16, 64, 512}}},
                         {"order", CategoricalParameter{6}}}};
    SearchSpace space;
    space.sketches = {domain, domain};
    space.sketch_names = {"tile", "tile-slow"};
    return space;
  }

  static Point optimum() { return {0, {16, 4, 8, 10, 32, 16, 2, 3}}; }

  static double seconds(const Point& point) {
    const Point best = optimum();
    double penalty = 0;
    for (int slot = 0; slot < 6; ++slot) {
      const double octaves = std::log2(static_cast<double>(point.integers[slot]) / best.integers[slot]);
      penalty += octaves * octaves;
    }
    penalty += 0.5 * static_cast<double>(std::abs(point.integers[6] - best.integers[6]));
    penalty += point.integers[7] == best.integers[7] ? 0.0 : 1.0;
    return 1e-3 * (1.0 + penalty) * (point.sketch == 0 ? 1.0 : 2.0);
  }

  // A model that is never wrong.
  static std::vector<double> perfect_scores(std::span<const Point> points) {
    std::vector<double> scores;
    for (const Point& point : points) scores.push_back(seconds(point));
    return scores;
  }
};

// A predictor that knows these costs, and no deviations.
inline Predictor predictor_of(std::function<std::vector<double>(std::span<const Point>)> costs) {
  Predictor predictor;
  predictor.full = [costs = std::move(costs)](std::span<const Point> points) {
    Prediction prediction{costs(points), {}};
    prediction.stddev.assign(prediction.mean.size(), 0);
    return prediction;
  };
  return predictor;
}
// One that is never wrong, and one that knows nothing.
inline Predictor perfect() { return predictor_of(Landscape::perfect_scores); }
inline Predictor blind() {
  return predictor_of([](std::span<const Point> points) { return std::vector<double>(points.size(), 1.0); });
}

// Runs `trials` trials in batches of 16 and returns all of them. The predictor serves from the second batch
// on.
inline std::vector<Trial> run_search(Strategy& strategy, int trials, const Predictor& predictor) {
  std::vector<Trial> all;
  while (static_cast<int>(all.size()) < trials) {
    std::vector<Trial> batch;
    for (Point& point : strategy.propose(16, all.empty() ? Predictor{} : predictor).points) {
      const double seconds = Landscape::seconds(point);
      batch.push_back({std::move(point), seconds});
    }
    if (batch.empty()) break;
    strategy.observe(batch);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

inline double best_of(const std::vector<Trial>& trials) {
  double best = std::numeric_limits<double>::infinity();
  for (const Trial& trial : trials) best = std::min(best, trial.seconds);
  return best;
}

}  // namespace lathe
