// Ansor's evolution of a population under a cost model (OSDI 2020, section 5.1, and its public code), of
// points that may be of several sketches.
#pragma once

#include <span>
#include <vector>

#include "search/parts/evolve.h"
#include "search/sampler.h"
#include "search/strategy.h"

namespace lathe {

struct AnsorEvolution {
  int generations = 4;  // of children, after the first population
  double mutation = 0.85;
  double crossover = 0.05;
  int keep = 1;  // how many points are asked for
};

// The unused points of least predicted cost that were met from `first` on, best first. Parents are drawn in
// proportion to how far they stay below the worst of their generation.
std::vector<Scored> evolve_as_ansor(const SearchSpace& space, const Sampler& sampler,
                                    std::vector<Point> first, const Predictor& predictor,
                                    const AnsorEvolution& options, Rng& rng);

// A mutant of the point: a kind of parameter by the weights of the public code (splits 0.90, categories, as
// places of computation, 0.05, ordered ones, as the depth of unrolling and the grain of parallel loops,
// 0.05), then one parameter of the kind. A split's part gives a divisor to another one. The point itself
// where nothing can change.
std::vector<int64_t> ansor_mutant(const Domain& domain, const std::vector<int64_t>& integers, Rng& rng);

}  // namespace lathe
