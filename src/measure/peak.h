// What the machine can do at most, measured: the yardsticks that figures are given against. Each call takes
// about a tenth of a second and loads the cores that it uses, so nothing else should run meanwhile.
#pragma once

#include "base/result.h"
#include "target/target.h"

namespace lathe {

// Whether there are loops that show what the target can do at most: not of a device that is no processor.
bool has_peaks(const Target& target);

// Floating-point operations a second, in 10^9, of fp32 FMAs between registers with the target's vectors, on
// all of its cores at once. The target must have peaks and be one that this machine runs, here and below.
double measure_fma_gflops(const Target& target);

// Bytes read a second, in 10^9, from a buffer of `bytes` for each core, read over and over: choose a size
// inside a cache level for its bandwidth, several times the last level for the memory's. An io error if there
// is no room.
Result<double> measure_read_gigabytes(const Target& target, int64_t bytes);
// A buffer large enough that reading it measures the memory, whatever the caches keep.
int64_t bytes_beyond_caches(const Target& target);

}  // namespace lathe
