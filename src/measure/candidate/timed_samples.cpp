#include "measure/candidate/timed_samples.h"

#include <algorithm>

namespace lathe {
namespace {

// A kernel that runs longer is as fast in its first run as in any other: cold caches and pages cost under a
// millisecond.
constexpr double kLongRunSeconds = 10e-3;

}  // namespace

Samples timed_samples(const std::function<void()>& work, double first_seconds, const TimingRequest& request,
                      const std::function<void()>& before) {
  double estimate = first_seconds;
  if (estimate < kLongRunSeconds) estimate = warm_up(work, request.timing, before);
  TimingOptions timing = request.timing;
  // The search has no use for a precise figure of a program that is far from the best.
  if (request.rough_seconds > 0 && estimate > request.rough_seconds)
    timing.max_samples = std::min(timing.max_samples, kFewestSamples);
  Samples samples;
  samples.timed_once = request.give_up_seconds > 0 && estimate > request.give_up_seconds;
  samples.seconds =
      samples.timed_once ? std::vector<double>{estimate} : take_samples(work, estimate, timing, before);
  return samples;
}

}  // namespace lathe
