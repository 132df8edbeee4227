// How good a search is, in numbers: of a table whose every point was measured once, so that the optimum and
// what random search gives are known exactly. Seconds are positive and finite; who has failures gives them
// the time of the slowest. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"

namespace lathe {

// The best so far after each trial.
std::vector<double> best_so_far(std::span<const double> seconds);

// The least of every `per_trial` of these; of what is left over too.
std::vector<double> best_of_trials(std::span<const double> seconds, int per_trial);

// The expected best of the first 1, 2, .. `trials` points of a table drawn without repetition: order
// statistics, exact. `trials` is at most the number of points.
std::vector<double> expected_random(std::span<const double> table, int64_t trials);

// The mean over the trials of (random - best) / (random - optimum): 0 as good as random, 1 the optimum from
// the first trial on, below 0 worse than random. A trial whose random search is sure of the optimum counts as
// 1 where the search has it too, else as 0. `best` has no more trials than `random`.
double search_score(std::span<const double> best, std::span<const double> random, double optimum);

// The first trial, counted from 1, whose best reaches this share of the optimum's speed; nothing where none
// does.
std::optional<int64_t> trials_to(std::span<const double> best, double optimum, double share);

// Of at least one value; the mean of the two in the middle where their number is even.
double median_of(std::vector<double> values);

// The value and the bounds between which 95 % of the medians of resampled runs lie.
struct ConfidenceInterval {
  double low = 0;
  double median = 0;
  double high = 0;
};
ConfidenceInterval bootstrap_median(std::span<const double> runs, Rng rng);

}  // namespace lathe
