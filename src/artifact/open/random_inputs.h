// Inputs for an artifact where its user has none at hand: to see it run, and to time it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/open/npy.h"
#include "base/result.h"

namespace lathe {

// One array for each input, in their order: floats uniform in [-1, 1), booleans, and integers that lead
// nowhere outside of what they index; those that no kernel is seen to index with are 0 to 3. The same seed
// gives the same arrays. An Error where the folder is no artifact, or an input has a type that no program
// reads.
Result<std::vector<NpyArray>> random_inputs(const std::string& folder, uint64_t seed);

}  // namespace lathe
