// Where the time of an artifact's runs goes: measured inside of them, by the artifact itself.
#pragma once

#include <vector>

#include "artifact/open/loaded_artifact.h"
#include "base/result.h"

namespace lathe {

// Seconds of a run: medians over the samples, each the mean of its runs.
struct ArtifactProfile {
  double call = 0;     // the whole
  double inputs = 0;   // copied, converted and looked at; constants compared
  double outputs = 0;  // converted
  double between = 0;  // all that is in none of the others
  std::vector<double> launches;
  int samples = 0;
  int runs = 1;  // in each sample
};

// All inputs must have been set.
Result<ArtifactProfile> profile_artifact(LoadedArtifact& artifact, int samples, int runs);

}  // namespace lathe
