#include "cli/latency.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/console.h"
#include "measure/statistics.h"
#include "measure/timing.h"

namespace lathe::cli {
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

void print_latency(const Latency& latency) {
  to_stdout("latency: {:.{}f} ms (median of {}, spread {:.1f} %)\n", latency.seconds * 1e3,
            latency.seconds < 1e-4 ? 5 : 3, latency.samples, latency.spread * 100);
}

Status print_percentiles(LoadedArtifact& artifact, const Latency& latency) {
  std::vector<double> runs = latency.sampled;
  if (latency.runs > 1) {
    LATHE_TRY(runs, time_each(artifact, std::min(kMostRuns, int64_t{latency.samples} * latency.runs)));
  }
  const auto microseconds = [&](double share) { return percentile(runs, share) * 1e6; };
  to_stdout("percentiles of {} run{}: p50 {:.2f} us, p90 {:.2f} us, p99 {:.2f} us\n", runs.size(),
            runs.size() == 1 ? "" : "s", microseconds(0.5), microseconds(0.9), microseconds(0.99));
  const double total = std::accumulate(runs.begin(), runs.end(), 0.0);
  to_stdout("throughput: {:.1f} runs/s, one after another\n", static_cast<double>(runs.size()) / total);
  return {};
}

}  // namespace lathe::cli
