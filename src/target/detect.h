// The machine that this process runs on, from cpuid, sysfs and the affinity mask. Never fails: what cannot be
// read is taken from generic_target. Thread-safe; takes some tens of microseconds.
#pragma once

#include <vector>

#include "target/target.h"

namespace lathe {

// The best target that this machine runs.
Target detect_target();

// False on a machine with neither AVX-512 nor AVX2 and FMA: no target of Lathe's runs there.
bool runs_some_target();

// The cpus that this process may run on, increasing; never empty.
std::vector<int> allowed_cpus();

// Bytes of main memory.
int64_t memory_bytes();

}  // namespace lathe
