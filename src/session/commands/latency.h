// How long an artifact takes from call to call.
#pragma once

#include <vector>

#include "artifact/open/loaded_artifact.h"
#include "base/result.h"

namespace lathe {

struct Latency {
  double seconds = 0;  // the median
  double spread = 0;
  int samples = 0;
  int runs = 1;                      // in each sample: short ones are timed several at once
  std::vector<double> sampled = {};  // seconds of a run, by sample
};

// Takes so many samples. All inputs must have been set.
Result<Latency> measure_latency(LoadedArtifact& artifact, int samples);

// The seconds of single runs: as many as the latency was taken from, at most a million, each timed by itself.
Result<std::vector<double>> measure_runs(LoadedArtifact& artifact, const Latency& latency);
// The time that this share of the runs (0 to 1) does not take longer than.
double percentile_of(const std::vector<double>& runs, double share);

}  // namespace lathe
