// The machine that this process runs on, as it says itself and as the operating system does. Thread-safe;
// takes some tens of microseconds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace lathe {

// The best target of this machine's processor, with all cpus that this process may run on. An Error
// (unsupported) where it has none.
Result<Target> detect_target();

// The cpus that this process may run on, increasing; never empty.
std::vector<int> allowed_cpus();

// Bytes of main memory.
int64_t memory_bytes();
// Those that the system would give out now without ending a process for them; all, where it does not say.
int64_t free_memory_bytes();

}  // namespace lathe
