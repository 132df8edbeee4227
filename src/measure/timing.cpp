#include "measure/timing.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "measure/statistics.h"

namespace lathe {
namespace {

// Work too short for the clock still gets a finite number of repeats.
constexpr double kShortestRun = 1e-9;

double time_runs(const std::function<void()>& work, int64_t runs) {
  const double start = monotonic_seconds();
  for (int64_t i = 0; i < runs; ++i) work();
  return (monotonic_seconds() - start) / static_cast<double>(runs);
}

// Each run timed by itself: as many as that, fewer where they and what precedes them take `most_seconds`.
double time_runs_after(const std::function<void()>& before, const std::function<void()>& work, int64_t runs,
                       double most_seconds) {
  const double start = monotonic_seconds();
  double seconds = 0;
  int64_t done = 0;
  while (done == 0 || (done < runs && monotonic_seconds() - start < most_seconds)) {
    before();
    seconds += time_runs(work, 1);
    ++done;
  }
  return seconds / static_cast<double>(done);
}

}  // namespace

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double warm_up(const std::function<void()>& work, const TimingOptions& options,
               const std::function<void()>& before) {
  const auto time = [&](int64_t runs) {
    return before ? time_runs_after(before, work, runs, options.warm_up_seconds) : time_runs(work, runs);
  };
  const double start = monotonic_seconds();
  double fastest = time(1);
  double elapsed = 0;
  // The number of runs doubles, so that work of nanoseconds is not dominated by reading the clock.
  for (int64_t runs = 1; runs == 1 || elapsed < options.warm_up_seconds; runs *= 2) {
    fastest = std::min(fastest, time(runs));
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
    samples.push_back(before ? time_runs_after(before, work, repeats, options.sample_seconds)
                             : time_runs(work, repeats));
    const int taken = static_cast<int>(samples.size());
    const bool over_budget = monotonic_seconds() - start >= options.budget_seconds;
    if (taken >= kFewestSamples && over_budget) break;
    if (taken >= options.min_samples && relative_spread(samples) <= options.target_spread) break;
  }
  return samples;
}

}  // namespace lathe
