// 64-bit Arm processors with nothing but what all of them have: 128-bit vectors and FMA.
#pragma once

#include <optional>

#include "target/cpu/peak_loops.h"
#include "target/target.h"

namespace lathe {

Target generic_neon();

// This machine as that target; nothing on another architecture. What cannot be read of its caches is taken
// from the generic one.
std::optional<Target> detect_neon();

// Null functions where Lathe runs on another architecture.
extern const PeakLoops kNeonPeakLoops;

}  // namespace lathe
