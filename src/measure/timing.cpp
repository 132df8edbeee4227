#include "measure/timing.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "measure/statistics.h"

namespace lathe {
namespace {

// Work too short for the clock still gets a finite number of repeats.
constexpr double kShortestRun = 1e-9;

double time_runs(const std::function<void()>& work, int64_t runs, const std::function<void()>& before) {
  double seconds = 0;
  // Runs with nothing between them are timed as one: the clock is read least.
  const int64_t reads = before ? runs : 1;
  for (int64_t read = 0; read < reads; ++read) {
    if (before) before();
    const double start = monotonic_seconds();
    for (int64_t i = 0; i < runs / reads; ++i) work();
    seconds += monotonic_seconds() - start;
  }
  return seconds / static_cast<double>(runs);
}

}  // namespace

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double warm_up(const std::function<void()>& work, const TimingOptions& options,
               const std::function<void()>& before) {
  const double start = monotonic_seconds();
  double fastest = time_runs(work, 1, before);
  double elapsed = 0;
  // The number of runs doubles, so that work of nanoseconds is not dominated by reading the clock.
  for (int64_t runs = 1; runs == 1 || elapsed < options.warm_up_seconds; runs *= 2) {
    fastest = std::min(fastest, time_runs(work, runs, before));
    elapsed = monotonic_seconds() - start;
  }
  return fastest;
}

std::vector<double> take_samples(const std::function<void()>& work, double estimate,
                                 const TimingOptions& options, const std::function<void()>& before) {
  const double runs = std::ceil(options.sample_seconds / std::max(estimate, kShortestRun));
  const int64_t repeats = std::max<int64_t>(1, static_cast<int64_t>(runs));
  const double start = monotonic_seconds();
  std::vector<double> samples;
  const int most = std::max(1, options.max_samples);
  while (static_cast<int>(samples.size()) < most) {
    samples.push_back(time_runs(work, repeats, before));
    const int taken = static_cast<int>(samples.size());
    const bool over_budget = monotonic_seconds() - start >= options.budget_seconds;
    if (taken >= kFewestSamples && over_budget) break;
    if (taken >= options.min_samples && relative_spread(samples) <= options.target_spread) break;
  }
  return samples;
}

}  // namespace lathe
