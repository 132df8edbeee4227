// The upper confidence bounds of Bansor, formulas (3) to (6): which sketch, and which task, a round goes to.
// Rewards are between 0 and 1, and higher is better.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lathe {

// reward + exploration * sqrt(2 ln(all) / own): `own` of `all` rounds were given to this one. own > 0.
double confidence_bound(double reward, double own, double all, double exploration);

// Formulas (3) and (4): of each sketch, from the least latency that its rounds gave and how many they were;
// its reward is the least latency of all over its own, 0 where it has none (infinity). Infinity where it had
// no round.
std::vector<double> sketch_bounds(std::span<const double> best_seconds, std::span<const int> rounds,
                                  double exploration);

// Formulas (5) and (6): of each task, from how steeply its latency falls (|df/dt|, task_scheduler.h); its
// reward is its share of the steepest, 1 for all where nothing falls. Infinity where it had no round.
std::vector<double> task_bounds(std::span<const double> steepness, std::span<const int> rounds,
                                double exploration);

}  // namespace lathe
