// The forms `random-x2` and `genetic-x2` of AutoTVM's figures 4 and 13: two candidates are measured in each
// trial, so that a search without a model has twice the measurements of one with a model.
#pragma once

#include <cstdint>
#include <memory>

#include "search/strategies/genetic.h"
#include "search/strategy.h"

namespace lathe {

// The same search, of which a trial is two points.
std::unique_ptr<Strategy> doubled(std::unique_ptr<Strategy> strategy);

std::unique_ptr<Strategy> make_random_x2(SearchSpace space, uint64_t seed);
std::unique_ptr<Strategy> make_genetic_x2(SearchSpace space, uint64_t seed,
                                          const GeneticOptions& options = {});

}  // namespace lathe
