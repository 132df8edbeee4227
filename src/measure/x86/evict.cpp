#ifdef __x86_64__
#include "measure/evict.h"

#include <cpuid.h>
#include <immintrin.h>

namespace lathe {
namespace {

constexpr int64_t kLineBytes = 64;  // of every processor that has either instruction

// Whether lines can be written back side by side: one after the other they take several times as long.
bool can_overlap() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}

__attribute__((target("clflushopt"))) void evict_overlapping(const char* first, int64_t bytes) {
  // The intrinsic takes a pointer to what may be written.
  char* const data = const_cast<char*>(first);
  for (int64_t offset = 0; offset < bytes; offset += kLineBytes) _mm_clflushopt(data + offset);
}

}  // namespace

void evict_from_caches(const void* data, int64_t bytes) {
  static const bool overlaps = can_overlap();
  const char* const first = static_cast<const char*>(data);
  _mm_mfence();
  if (overlaps) {
    evict_overlapping(first, bytes);
  } else {
    for (int64_t offset = 0; offset < bytes; offset += kLineBytes) _mm_clflush(first + offset);
  }
  _mm_mfence();
}

}  // namespace lathe
#endif
