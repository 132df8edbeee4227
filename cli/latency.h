// How long an artifact takes, and what `lathe run` prints of it.
#pragma once

#include <vector>

#include "artifact/loaded_artifact.h"
#include "base/result.h"

namespace lathe::cli {

struct Latency {
  double seconds = 0;  // the median
  double spread = 0;
  int samples = 0;
  int runs = 1;                      // in each sample: short ones are timed several at once
  std::vector<double> sampled = {};  // seconds of a run, by sample
};

// Takes so many samples. All inputs must have been set.
Result<Latency> measure_latency(LoadedArtifact& artifact, int samples);

// The line that scripts read; no other on stdout has a figure followed by "ms".
void print_latency(const Latency& latency);

// Times as many runs as the latency was taken from, each by itself, and prints percentiles and throughput.
Status print_percentiles(LoadedArtifact& artifact, const Latency& latency);

}  // namespace lathe::cli
