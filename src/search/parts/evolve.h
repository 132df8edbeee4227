// Evolution under a cost model, without measurements: from a first population to the points of least
// predicted cost.
#pragma once

#include <span>
#include <vector>

#include "search/sampler.h"
#include "search/strategy.h"

namespace lathe {

struct Scored {
  Point point;
  double cost = 0;
};

struct EvolveOptions {
  int population = 1;
  int generations = 1;  // the first is the initial population
  int keep = 1;         // how many points are asked for
};

// The unused points of least predicted cost that were met, best first. The first population is
// `measured` (at most a fifth) and fresh samples. Parents are winners of tournaments: a model's ranks have no
// scale that selection in proportion to them could use. Children are mutants or crossovers within a sketch;
// whoever is better, parent or child, stays. No point is scored twice. Where the predictor drafts,
// populations are eight times as large and live by their drafts; the model verifies a population of the best
// at the end.
std::vector<Scored> evolve(const SearchSpace& space, Sampler& sampler, std::span<const Point> measured,
                           const Predictor& predictor, const EvolveOptions& options);

}  // namespace lathe
