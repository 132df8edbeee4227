// What a run of an artifact takes through its C face, conversions and all, for random inputs.
#pragma once

#include <cstddef>
#include <string>

#include "base/deadline.h"
#include "base/result.h"

namespace lathe {

struct ArtifactTime {
  double seconds = 0;  // the median
  double spread = 0;   // as relative_spread
  size_t samples = 0;
};

// What it takes to draw inputs, and to give memory to them and to outputs, of so many bytes in all.
double drawing_seconds(double bytes);
// Some tenths of a second of runs, or one that takes longer. By the deadline fewer, after a first one in a
// child, which can be ended; an Error of kind timeout where there is no time for a single one, which is
// thought to take `expected_seconds`, and what else ended the child's.
Result<ArtifactTime> time_artifact(const std::string& folder, int cores, double expected_seconds = 0,
                                   const Deadline& deadline = {});

}  // namespace lathe
