#include "session/commands/race_in_place.h"

#include <algorithm>
#include <array>
#include <utility>

#include "artifact/open/profile_artifact.h"
#include "artifact/open/random_inputs.h"
#include "measure/pinned_thread.h"
#include "measure/statistics.h"
#include "measure/timing.h"
#include "target/detect.h"
#include "tune/choose_trace.h"

namespace lathe {
namespace {

constexpr double kRacedSeconds = 2;
constexpr size_t kFewestRounds = 5;
constexpr size_t kMostRounds = 60;
constexpr double kSampleSeconds = 2e-3;

std::vector<std::string> launch_names(const LoadedArtifact& artifact) {
  std::vector<std::string> names;
  for (const ManifestLaunch& launch : artifact.manifest().launches) names.push_back(launch.name);
  return names;
}

// What the task's launches took together in each round.
std::vector<double> rounds_of(size_t task, const LaunchRounds& rounds, std::span<const size_t> task_of) {
  std::vector<double> sums;
  for (const std::vector<double>& round : rounds) {
    double& sum = sums.emplace_back(0);
    for (size_t launch = 0; launch < task_of.size(); ++launch)
      if (task_of[launch] == task) sum += round[launch];
  }
  return sums;
}

}  // namespace

std::set<size_t> faster_in(const LaunchRounds& other, const LaunchRounds& first,
                           std::span<const size_t> task_of, const std::set<size_t>& asked) {
  std::set<size_t> faster;
  for (const size_t task : asked) {
    const std::vector<double> others = rounds_of(task, other, task_of);
    const std::vector<double> firsts = rounds_of(task, first, task_of);
    size_t won = 0;
    for (size_t round = 0; round < others.size(); ++round) won += others[round] < firsts[round] ? 1 : 0;
    if (3 * won >= 2 * others.size() && is_clearly_faster(median(others), median(firsts)))
      faster.insert(task);
  }
  return faster;
}

Result<InPlaceRace::Runner> InPlaceRace::Runner::open(const std::string& folder, int cores) {
  LATHE_TRY(LoadedArtifact artifact, LoadedArtifact::open(folder, cores));
  LATHE_TRY_STATUS(artifact.check_is_timed());
  LATHE_TRY_STATUS(set_random_inputs(artifact, folder, 1, folder));
  // The first run prepares the constants.
  LATHE_TRY_STATUS(artifact.run());
  LATHE_TRY(const ArtifactProfile once, profile_artifact(artifact, 1, 1));
  const double runs = kSampleSeconds / std::max(once.call, 1e-9);
  return Runner{std::move(artifact), std::clamp(static_cast<int>(runs), 1, 1000)};
}

Result<InPlaceRace> InPlaceRace::open(const std::string& first, const std::string& other, int cores) {
  LATHE_TRY(Runner one, Runner::open(first, cores));
  LATHE_TRY(Runner two, Runner::open(other, cores));
  if (launch_names(one.artifact) != launch_names(two.artifact))
    return fail(ErrorKind::load, "two artifacts of one network run other launches", other);
  return InPlaceRace(std::move(one), std::move(two));
}

Result<InPlace> InPlaceRace::run() {
  // As time_artifact has it: the models' own threads find the other cpus free.
  const PinnedThread pinned(allowed_cpus().front());
  InPlace race;
  const double begin = monotonic_seconds();
  const std::array turns{std::pair(&first_, &race.first), std::pair(&other_, &race.other)};
  while (race.first.size() < kFewestRounds ||
         (race.first.size() < kMostRounds && monotonic_seconds() - begin < kRacedSeconds)) {
    for (const auto& [runner, rounds] : turns) {
      LATHE_TRY(ArtifactProfile profile, profile_artifact(runner->artifact, 1, runner->runs));
      rounds->push_back(std::move(profile.launches));
    }
  }
  return race;
}

}  // namespace lathe
