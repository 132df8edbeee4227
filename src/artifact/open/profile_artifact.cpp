#include "artifact/open/profile_artifact.h"

#include <functional>

#include "measure/statistics.h"

namespace lathe {
namespace {

double seconds_of(const lathe_interval& interval) {
  return static_cast<double>(interval.end - interval.begin) * 1e-9;
}

// Adds a run, as so many seconds each.
void add(const RunTimes& times, double share, ArtifactProfile& sum) {
  const double call = seconds_of(times.call);
  const double inputs = seconds_of(times.inputs) + seconds_of(times.constants);
  const double outputs = seconds_of(times.outputs);
  double launches = 0;
  for (size_t i = 0; i < times.launches.size(); ++i) {
    const double launch = seconds_of(times.launches[i]);
    sum.launches[i] += share * launch;
    launches += launch;
  }
  sum.call += share * call;
  sum.inputs += share * inputs;
  sum.outputs += share * outputs;
  sum.between += share * (call - inputs - outputs - launches);
}

double median_of(const std::vector<ArtifactProfile>& samples,
                 const std::function<double(const ArtifactProfile&)>& field) {
  std::vector<double> values;
  for (const ArtifactProfile& sample : samples) values.push_back(field(sample));
  return median(values);
}

}  // namespace

Result<ArtifactProfile> profile_artifact(LoadedArtifact& artifact, int samples, int runs) {
  const size_t launches = artifact.manifest().launches.size();
  std::vector<ArtifactProfile> taken;
  for (int sample = 0; sample < samples; ++sample) {
    ArtifactProfile& sum = taken.emplace_back();
    sum.launches.resize(launches);
    for (int run = 0; run < runs; ++run) {
      LATHE_TRY(const RunTimes times, artifact.run_timed(/*with_parts=*/false));
      add(times, 1.0 / runs, sum);
    }
  }
  ArtifactProfile profile;
  profile.samples = samples;
  profile.runs = runs;
  profile.call = median_of(taken, [](const ArtifactProfile& sample) { return sample.call; });
  profile.inputs = median_of(taken, [](const ArtifactProfile& sample) { return sample.inputs; });
  profile.outputs = median_of(taken, [](const ArtifactProfile& sample) { return sample.outputs; });
  profile.between = median_of(taken, [](const ArtifactProfile& sample) { return sample.between; });
  for (size_t i = 0; i < launches; ++i) {
    profile.launches.push_back(
        median_of(taken, [i](const ArtifactProfile& sample) { return sample.launches[i]; }));
  }
  return profile;
}

}  // namespace lathe
