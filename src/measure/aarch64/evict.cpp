#ifdef __aarch64__
#include "measure/evict.h"

namespace lathe {
namespace {

// Of the smallest line that a data cache has, in bytes: the register counts words as a power of two.
int64_t smallest_line_bytes() {
  uint64_t type = 0;
  asm("mrs %0, ctr_el0" : "=r"(type));
  return int64_t{4} << ((type >> 16) & 0xf);
}

}  // namespace

void evict_from_caches(const void* data, int64_t bytes) {
  const int64_t line = smallest_line_bytes();
  const char* const first = static_cast<const char*>(data);
  for (int64_t offset = 0; offset < bytes; offset += line)
    asm volatile("dc civac, %0" : : "r"(first + offset) : "memory");
  asm volatile("dsb sy" : : : "memory");
}

}  // namespace lathe
#endif
