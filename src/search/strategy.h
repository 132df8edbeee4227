// Who to try next, by ask and tell: `propose` names points, the caller measures them, `observe` hears the
// outcome. A strategy sees integers and predicted costs only. It has no clock and no threads, and its random
// numbers come from the seed in its options: the same seed and the same observations give the same proposals
// on every machine. Not thread-safe. A scorer may use threads as long as its numbers do not depend on them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "search/search_space.h"

namespace lathe {

struct Trial {
  Point point;
  double seconds = 0;  // infinity: failed
};

// Predicted costs, one a point, lower is better, comparable within one call. Infinity or NaN: not worth a
// trial. An empty function says that there is no model yet.
using Scorer = std::function<std::vector<double>(std::span<const Point>)>;

class Strategy {
 public:
  virtual ~Strategy() = default;

  // At most `count` legal points, none of them proposed or observed before. Fewer than `count` only when the
  // space is used up, as far as the strategy can tell; then an empty answer ends the search.
  virtual std::vector<Point> propose(int count, const Scorer& scorer) = 0;
  // Outcomes of proposed points, or of earlier runs: those are then never proposed.
  virtual void observe(std::span<const Trial> trials) = 0;
};

struct StrategyOptions {
  uint64_t seed = 0;

  // Behaviour of `evolutionary`.
  double random_share = 0.05;  // of a batch: uniform points whatever the model says; at least one point
  double descent_share =
      0.25;                // of a batch: neighbours of the best measured points, once there are enough trials
  int descent_after = 24;  // measured trials before descent begins
  int descent_from = 3;    // how many of the best measured points are walked from
  double diversity = 0.25;  // weight of values that a batch does not cover yet, against predicted cost

  // Cost of `evolutionary`: it scores at most population * generations points a proposal, and the neighbours
  // of descent_from points: raise or lower it with the price of a prediction.
  int population = 512;
  int generations = 4;  // the first is the initial population
};

}  // namespace lathe
