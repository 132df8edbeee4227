#ifdef __x86_64__
#include "measure/evict.h"

#include <emmintrin.h>

namespace lathe {
namespace {

constexpr int64_t kLineBytes = 64;  // of every processor that has the instruction

}  // namespace

void evict_from_caches(const void* data, int64_t bytes) {
  const char* const first = static_cast<const char*>(data);
  for (int64_t offset = 0; offset < bytes; offset += kLineBytes) _mm_clflush(first + offset);
  _mm_mfence();
}

}  // namespace lathe
#endif
