// The baseline `genetic` of AutoTVM (figures 4 and 13): a genetic algorithm on the vector of choices, without
// a model. A generation is measured whole, then the next is bred from it and from the best of all before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/settings.h"
#include "search/strategy.h"

namespace lathe {

// The paper leaves them open; these are its public code's.
struct GeneticOptions {
  int population = 100;
  int elites = 3;         // the best of all generations, which stay among the parents
  double mutation = 0.1;  // of each component of a child: drawn anew
};
std::vector<Setting<GeneticOptions>> genetic_settings();

// Parents are drawn in proportion to their throughput; a child has the components of one parent up to a place
// and those of the other from there on. A child that was there before is drawn anew. What earlier runs
// measured is a generation.
std::unique_ptr<Strategy> make_genetic(SearchSpace space, uint64_t seed, const GeneticOptions& options = {});

}  // namespace lathe
