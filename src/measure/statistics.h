// The estimators behind every figure. Pure functions; samples need not be sorted and are at least one.
//
// Why not the mean, the median or the minimum: whatever disturbs a run (interrupts, a neighbour on the core,
// the host taking it away) only ever adds time, so the distribution has one long tail to the right. The mean
// follows that tail. The median does once half the samples are disturbed, which on a shared machine happens.
// The minimum is the lucky shot: it depends on how many samples were taken, so that a candidate measured
// longer looks faster. The median of the faster half stands between: up to three quarters of the samples may
// be disturbed, and one lucky sample does not move it by more than a rank.
#pragma once

#include <span>

namespace lathe {

// The median of the values; between the two middle ones for an even number.
double median(std::span<const double> values);

// The least value that at least this share of the values does not exceed: 0.99 gives the 99th percentile,
// which of fewer than a hundred values is the largest. The share is above 0 and at most 1.
double percentile(std::span<const double> values, double share);

// The median of the faster half (of n values the ceil(n / 2) smallest).
double robust_centre(std::span<const double> samples);

// The median absolute deviation of the faster half from its median, relative to it: 0.01 is 1 %. How far the
// figure itself can be trusted, so the tail that the centre ignores is left out here too.
double relative_spread(std::span<const double> samples);

}  // namespace lathe
