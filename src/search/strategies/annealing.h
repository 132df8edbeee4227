// The strategy `annealing`: AutoTVM's exploration, algorithm 1 with sections 3.3 and A.3. Parallel simulated
// annealing under the cost model, whose chains go on from batch to batch; from the best points that they met
// a diverse batch is chosen by formula (3), and a part of each batch is random. The first batch, before any
// model, is random.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "search/strategy.h"

namespace lathe {

// b, n_sa, step_sa, lambda and epsilon are the paper's; it leaves the others open, and the values of lambda,
// alpha and epsilon (figure 6 has lambda 1, 2 and 4).
struct AnnealingOptions {
  int batch = 64;     // b: points measured between two fits
  int chains = 128;   // n_sa
  int steps = 500;    // step_sa: at most so many for each batch
  int patience = 50;  // steps without a change among the best points, after which a batch's annealing ends
  double heat = 1;    // the temperature at first; it falls to 0 in a straight line
  double candidates = 2;       // lambda: the best lambda * b points that were met are chosen from
  double diversity = 1;        // alpha, times the number of components
  double random_share = 0.05;  // epsilon
  // What differences of energy are measured by: "spread", the range over the chains, or "plain", the model's
  // own unit, as the authors' public code has it.
  std::string energy = "spread";
  std::string acquisition = "mean";  // search/acquisition.h
  double kappa = 1;                  // of "ucb"
};
std::vector<Setting<AnnealingOptions>> annealing_settings();

std::unique_ptr<Strategy> make_annealing(SearchSpace space, uint64_t seed,
                                         const AnnealingOptions& options = {});

}  // namespace lathe
