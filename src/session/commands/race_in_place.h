// Two artifacts of one network that run in turns: which tasks' programs are faster in their place.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "artifact/open/loaded_artifact.h"
#include "base/result.h"

namespace lathe {

// What each launch took in each round, [round][launch], seconds.
using LaunchRounds = std::vector<std::vector<double>>;

// The tasks, of those asked about, whose programs are clearly faster (is_clearly_faster) in `other` than in
// `first`: by the medians over the rounds of the sums over their launches, and in two of three rounds at
// least. `task_of` says whose a launch is; both ran the same launches in the same rounds.
std::set<size_t> faster_in(const LaunchRounds& other, const LaunchRounds& first,
                           std::span<const size_t> task_of, const std::set<size_t>& asked);

// What two artifacts took in turns.
struct InPlace {
  LaunchRounds first;
  LaunchRounds other;
};

// Two artifacts that are open, have random inputs and have run once: their files may be gone.
class InPlaceRace {
 public:
  // An Error where one cannot be opened or fails, or their launches are not the same.
  static Result<InPlaceRace> open(const std::string& first, const std::string& other, int cores);

  // Runs both in turns and in this process, for about two seconds.
  Result<InPlace> run();

 private:
  struct Runner {
    LoadedArtifact artifact;
    int runs = 1;  // in a sample

    static Result<Runner> open(const std::string& folder, int cores);
  };

  InPlaceRace(Runner first, Runner other) : first_(std::move(first)), other_(std::move(other)) {}

  Runner first_;
  Runner other_;
};

}  // namespace lathe
