// Inputs for an artifact where its user has none at hand: to see it run, and to time it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "artifact/open/loaded_artifact.h"
#include "base/result.h"

namespace lathe {

// Gives the artifact of that folder all its inputs, one after another: floats uniform in [-1, 1), booleans,
// and integers that lead nowhere outside of what they index; those that no kernel is seen to index with are 0
// to 3. The same seed gives the same. An Error where the folder is no artifact, or the machine has no room
// for an input; its place is `source`.
// `sizes`: of free dimensions by their names; others have their largest.
Status set_random_inputs(LoadedArtifact& artifact, const std::string& folder, uint64_t seed,
                         const std::string& source, const std::map<std::string, int64_t>& sizes = {});

}  // namespace lathe
