// What a thread does between two looks at a word that another one will write.
#pragma once

namespace lathe {

// Leaves the core's units to what else runs on it, for some tens of nanoseconds at most.
inline void pause_briefly() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // "yield" does nothing on most processors
#endif
}

}  // namespace lathe
