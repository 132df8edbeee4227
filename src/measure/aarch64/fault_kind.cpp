#ifdef __aarch64__
#include "measure/fault_kind.h"

#include <asm/sigcontext.h>

#include <cstddef>

namespace lathe {
namespace {

constexpr __u64 kWasWrite = 1 << 6;  // WnR of the syndrome of a data abort

}  // namespace

// The kernel lays records of differing kinds one behind another; the syndrome is one of them.
bool was_write(const ucontext_t& state) {
  const unsigned char* const begin = state.uc_mcontext.__reserved;
  const size_t bytes = sizeof state.uc_mcontext.__reserved;
  for (size_t offset = 0; offset + sizeof(_aarch64_ctx) <= bytes;) {
    const auto* record = reinterpret_cast<const _aarch64_ctx*>(begin + offset);
    if (record->magic == 0 || record->size == 0) break;
    if (record->magic == ESR_MAGIC)
      return (reinterpret_cast<const esr_context*>(record)->esr & kWasWrite) != 0;
    offset += record->size;
  }
  return false;
}

}  // namespace lathe
#endif
