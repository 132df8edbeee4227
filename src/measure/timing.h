// Taking samples of a repeatable piece of work, in this process. The worker times candidates with it, the
// benchmarks whatever they compare.
//
// The clock is CLOCK_MONOTONIC: where the kernel trusts the processor's counter, reading it costs some 25 ns
// without a system call, 0.003 % of a sample of 1 ms; elsewhere a microsecond, 0.1 %. Reading the counter
// itself would save nothing that shows and needs its frequency, which virtual machines misreport.
#pragma once

#include <functional>
#include <vector>

namespace lathe {

// Seconds since some fixed moment; never goes back.
double monotonic_seconds();

// Which statistic of the samples is a program's time: measure/statistics.h.
struct TimingOptions {
  double sample_seconds = 1e-3;  // a sample repeats the work at least so long
  int min_samples = 5;           // taken whatever the spread
  int max_samples = 9;           // taken while the spread is above target_spread
  double target_spread = 0.01;   // relative_spread at which sampling stops
  // Once so much time has gone into samples only kFewestSamples are taken: bounds work of 10 ms and more.
  double budget_seconds = 0.05;
  double warm_up_seconds = 0.5e-3;  // the work is repeated at least so long, and twice, before any sample
};

// Taken even of work that uses up the budget at once.
constexpr int kFewestSamples = 3;

// Repeats the work until caches, predictors and clocks have settled and returns the seconds that one run
// takes then. Where `before` is set it precedes each run, here and in samples; no figure holds its time, but
// it counts towards how long warm-up, a sample and the budget last, so that these hold fewer runs.
double warm_up(const std::function<void()>& work, const TimingOptions& options,
               const std::function<void()>& before = {});

// Samples in seconds for one run each. `estimate` is what warm_up returned.
std::vector<double> take_samples(const std::function<void()>& work, double estimate,
                                 const TimingOptions& options, const std::function<void()>& before = {});

}  // namespace lathe
