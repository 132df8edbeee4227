#include "session/commands/latency.h"

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"
#include "measure/timing.h"

namespace lathe {
namespace {

// Runs shorter than this are timed several at once: the clock takes some tens of nanoseconds.
constexpr double kLeastSampleSeconds = 1e-3;
// More say nothing new of percentiles, and each one is kept.
constexpr int64_t kMostRuns = 1000000;

Result<std::vector<double>> time_each(LoadedArtifact& artifact, int64_t runs) {
  std::vector<double> seconds;
  seconds.reserve(static_cast<size_t>(runs));
  double begin = monotonic_seconds();
  for (int64_t i = 0; i < runs; ++i) {
    LATHE_TRY_STATUS(artifact.run());
    const double end = monotonic_seconds();
    seconds.push_back(end - begin);
    begin = end;
  }
  return seconds;
}

}  // namespace

Result<Latency> measure_latency(LoadedArtifact& artifact, int samples) {
  double begin = monotonic_seconds();
  LATHE_TRY_STATUS(artifact.run());
  const double estimate = monotonic_seconds() - begin;
  Latency latency;
  latency.samples = samples;
  latency.runs = std::clamp(static_cast<int>(std::ceil(kLeastSampleSeconds / estimate)), 1, 1000);
  for (int i = 0; i < samples; ++i) {
    begin = monotonic_seconds();
    for (int k = 0; k < latency.runs; ++k) LATHE_TRY_STATUS(artifact.run());
    latency.sampled.push_back((monotonic_seconds() - begin) / latency.runs);
  }
  latency.seconds = median(latency.sampled);
  latency.spread = relative_spread(latency.sampled);
  return latency;
}

Result<std::vector<double>> measure_runs(LoadedArtifact& artifact, const Latency& latency) {
  if (latency.runs == 1) return latency.sampled;
  return time_each(artifact, std::min(kMostRuns, int64_t{latency.samples} * latency.runs));
}

double percentile_of(const std::vector<double>& runs, double share) { return percentile(runs, share); }

}  // namespace lathe
