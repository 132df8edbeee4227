// The strategies `ansor` (Bansor's algorithm 1, sections II-B to II-D) and `bansor` (section III, formulas
// (3) and (4)): in each round a sketch, fresh points of it and its best measured ones, evolved under the cost
// model; the best are measured. `ansor` draws the sketch, `bansor` takes it by an upper confidence bound.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "search/strategy.h"

namespace lathe {

// What the papers leave open is as in Ansor's public code.
struct AnsorOptions {
  int batch = 64;  // n_per_round
  int population = 2048;
  int generations = 4;          // of children, after the first population
  double measured_share = 0.2;  // of the first population at most: the best measured points
  double mutation = 0.85;       // of the children; 0.05 are crossovers, the others copies
  double crossover = 0.05;
  double random_share = 0.05;  // of a round, whatever the model says
  // Whom a sketch is drawn for: "round", as algorithm 1 says, or "individual", each of the first population,
  // as the code does.
  std::string sketch_choice = "round";
};
std::vector<Setting<AnsorOptions>> ansor_settings();

struct BansorOptions {
  int batch = 16;  // n_per_round: the better of 16 and 64 in figure 4
  int population = AnsorOptions().population;
  int generations = AnsorOptions().generations;
  double measured_share = AnsorOptions().measured_share;
  double mutation = AnsorOptions().mutation;
  double crossover = AnsorOptions().crossover;
  double random_share = AnsorOptions().random_share;
  double exploration = 0.3;  // C
};
std::vector<Setting<BansorOptions>> bansor_settings();

std::unique_ptr<Strategy> make_ansor(SearchSpace space, uint64_t seed, const AnsorOptions& options = {});
// Sketches without a round come first, in their order.
std::unique_ptr<Strategy> make_bansor(SearchSpace space, uint64_t seed, const BansorOptions& options = {});

}  // namespace lathe
