// The peaks of this machine that times are set against.
#pragma once

#include <cstdint>
#include <optional>

#include "explain/stage_bounds.h"
#include "target/target.h"

namespace lathe {

// On the target's cores; takes half a second. None of a device that is no processor, or that this machine
// does not run on so many cores: the bounds would be another machine's.
std::optional<Roofline> measured_roofline(const Target& target);

// What one run of a program takes at least, whose inputs and outputs have so many bytes: its operations at
// the peak, or, where that takes longer, the bytes once from the nearest level that holds them all.
struct RunBound {
  double seconds = 0;
  Bottleneck limit = Bottleneck::units;
};
RunBound run_bound(int64_t flops, int64_t bytes, const Target& target, const Roofline& roofline);

}  // namespace lathe
