// Takes memory out of the caches of all cores, so that who reads it next waits for main memory. Each
// architecture has it in a folder of its own.
#pragma once

#include <cstdint>

namespace lathe {

// All cache lines of the `bytes` bytes at `data`; they may be read-only.
void evict_from_caches(const void* data, int64_t bytes);

}  // namespace lathe
