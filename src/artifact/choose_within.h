// A bound on the size of a network's weights. Programs that transform constants beforehand (Winograd) read
// several times the bytes of the constants; where all of them together are too many, some tasks give theirs
// up for programs that keep less: those that lose the least time for the bytes that they save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lathe {

// What one program of a task would add to a network.
struct WeightsChoice {
  int64_t bytes = 0;  // of weights, all uses together
  double cost = 0;    // of all its uses: seconds, or whatever else is to be small in all
};

// For each task which of its choices to take, the first being the cheapest: together at most `limit` bytes
// where that can be had, else as few as there are. Greedy: from these on, the step that costs
// least for each byte that it saves; then tasks that gave way go into the room that is left, what saves most
// first.
std::vector<size_t> choose_within(const std::vector<std::vector<WeightsChoice>>& tasks, int64_t limit);

}  // namespace lathe
