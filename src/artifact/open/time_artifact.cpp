#include "artifact/open/time_artifact.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "artifact/open/loaded_artifact.h"
#include "artifact/open/random_inputs.h"
#include "artifact/open/run_apart.h"
#include "base/code_pages.h"
#include "measure/pinned_thread.h"
#include "measure/statistics.h"
#include "measure/timing.h"
#include "target/detect.h"

namespace lathe {
namespace {

// How long an artifact is timed; a run that takes longer is timed once, and one that takes very long is that
// by itself: constants that it prepares and pages that it meets anew are little beside it.
constexpr double kTimedSeconds = 0.2;
constexpr size_t kMostSamples = 30;
constexpr double kLeastSampleSeconds = 1e-3;
constexpr double kLongRun = 2;
constexpr double kDrawingSecondsPerByte = 3e-9;

double bytes_of_interface(const LoadedArtifact& artifact) {
  double bytes = 0;
  for (const auto* tensors : {&artifact.inputs(), &artifact.outputs()})
    for (const ArtifactTensor& tensor : *tensors) bytes += static_cast<double>(tensor.bytes);
  return bytes;
}

}  // namespace

double drawing_seconds(double bytes) { return bytes * kDrawingSecondsPerByte; }

Result<ArtifactTime> time_artifact(const std::string& folder, int cores, double expected_seconds,
                                   const Deadline& deadline) {
  const auto no_time = [] { return fail(ErrorKind::timeout, "there was no time left to run it"); };
  if (deadline.is_past()) return no_time();
  release_code_pages();
  LATHE_TRY(LoadedArtifact artifact, LoadedArtifact::open(folder, cores));
  if (drawing_seconds(bytes_of_interface(artifact)) + expected_seconds > deadline.seconds_left())
    return no_time();
  // The model's own threads exist by now and may run anywhere: they find the other cpus free for good.
  const PinnedThread pinned(allowed_cpus().front());
  LATHE_TRY_STATUS(set_random_inputs(artifact, folder, 1, folder));
  // No estimate holds for every program.
  if (std::isfinite(deadline.seconds_left())) {
    const Result<double> apart = run_apart(artifact, deadline);
    if (!apart && apart.error().kind == ErrorKind::timeout) return no_time();
    if (!apart) return std::unexpected(apart.error());
    if (*apart > kLongRun) return ArtifactTime{*apart, 0, 1};
  }
  const double start = monotonic_seconds();
  LATHE_TRY_STATUS(artifact.run());  // prepares constants
  const double first = monotonic_seconds() - start;
  if (first > kLongRun) return ArtifactTime{first, 0, 1};
  if (first > deadline.seconds_left()) return no_time();
  const double most = std::min(kTimedSeconds, deadline.seconds_left());
  std::vector<double> samples;
  int runs = 1;
  for (double spent = 0; samples.empty() || (spent < most && samples.size() < kMostSamples);) {
    const double begin = monotonic_seconds();
    for (int i = 0; i < runs; ++i) LATHE_TRY_STATUS(artifact.run());
    const double seconds = monotonic_seconds() - begin;
    spent += seconds;
    if (seconds * 2 >= kLeastSampleSeconds) {
      samples.push_back(seconds / runs);
    } else {
      runs *= 2;  // the clock takes some tens of nanoseconds
    }
  }
  return ArtifactTime{median(samples), relative_spread(samples), samples.size()};
}

}  // namespace lathe
