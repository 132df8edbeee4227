// From a scheduled program to numbers that a cost model learns from. Taken before lowering, so that a point
// costs well under a millisecond. All counts enter as log2(1 + x); ratios as they are. The vector means the
// same for every program: the `kBlocks` blocks with the most work, heaviest first, then totals.
#pragma once

#include <string>
#include <vector>

#include "loop/loop.h"
#include "target/target.h"

namespace lathe {

struct Features {
  std::vector<float> flat;
};

// Name of each entry of `flat`, in order: "block0.vector_lanes" ...
const std::vector<std::string>& feature_names();

Features extract_features(const Program& program, const Target& target);

}  // namespace lathe
