// Processors with AVX2 and FMA, and those with AVX-512 besides.
#pragma once

#include <optional>

#include "target/cpu/peak_loops.h"
#include "target/target.h"

namespace lathe {

Target generic_avx2();
Target generic_avx512();

// This machine as that target; nothing where it lacks the instructions. What cannot be read of its caches is
// taken from the generic one.
std::optional<Target> detect_avx2();
std::optional<Target> detect_avx512();

// Null functions where Lathe runs on another architecture.
extern const PeakLoops kAvx2PeakLoops;
extern const PeakLoops kAvx512PeakLoops;

}  // namespace lathe
