// A fence that one thread has all others of the process take part in, so that they need none of their own
// where they only rarely have to be seen (membarrier(2), Linux 4.14). Linux and the C library alone: this is
// compiled into artifacts.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace lathe {

// Says that this process will ask for such fences, a forked child anew. False where the kernel has none.
inline bool register_process_fence() {
#ifdef SYS_membarrier
  constexpr int kRegisterPrivateExpedited = 1 << 4;
  return syscall(SYS_membarrier, kRegisterPrivateExpedited, 0) == 0;
#else
  return false;
#endif
}

// Once registered: every other thread of the process has passed a full fence since this was called. Some
// microseconds. False where the kernel refuses it by now, as in a sandbox that the process has entered since.
inline bool process_fence() {
#ifdef SYS_membarrier
  constexpr int kPrivateExpedited = 1 << 3;
  return syscall(SYS_membarrier, kPrivateExpedited, 0) == 0;
#else
  return false;
#endif
}

// The others' side: keeps the compiler from moving a load before a store, and costs nothing.
inline void fence_by_others() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace lathe
