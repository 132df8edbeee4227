// What other sizes of a free dimension tell of a network, and at how many of them what follows from one size
// is compared with the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "network/follow_size.h"

namespace lathe {

// What a reading at another size tells of the network.
struct Compared {
  std::vector<FreeParts> known = {};      // by compare_sizes
  std::vector<TensorId> number_ids = {};  // constants that go by the size
  SizeNumbers numbers = {};               // what they are, once everything else is known to follow the size
};

// Numbers that go by one size, where the places of another that they have are so many fewer.
void keep_first_places(SizeNumbers& numbers, const FollowedSize& other, int64_t size);

// At the fewest: the ends and the middle, with their neighbours.
constexpr size_t kFewestCompared = 6;
// How many sizes may be compared in a second or two, by what reading the network's constants and following
// its nodes take.
size_t most_compared(const Graph& network);

// Calls `visit` with an entry of each of the lists, for all combinations, until it fails.
Status for_each_combination(const std::vector<std::vector<int64_t>>& lists,
                            const std::function<Status(const std::vector<int64_t>&)>& visit);

}  // namespace lathe
