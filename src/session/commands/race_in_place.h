// Two artifacts of one network that run in turns: which tasks' programs are faster in their place.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace lathe {

// What each launch took in each round, [round][launch], seconds.
using LaunchRounds = std::vector<std::vector<double>>;

// The tasks, of those asked about, whose programs are clearly faster (is_clearly_faster) in `other` than in
// `first`, by the sums over their launches of the rounds' medians. `task_of` says whose a launch is; both ran
// the same launches.
std::set<size_t> faster_in(const LaunchRounds& other, const LaunchRounds& first,
                           std::span<const size_t> task_of, const std::set<size_t>& asked);

// What two artifacts took in turns.
struct InPlace {
  LaunchRounds first;
  LaunchRounds other;
};
// Runs both artifacts with random inputs, in turns and in this process, for about two seconds. An Error where
// one cannot be opened or fails, or their launches are not the same.
Result<InPlace> race_in_place(const std::string& first, const std::string& other, int cores);

}  // namespace lathe
