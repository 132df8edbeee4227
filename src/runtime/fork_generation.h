// Which process this is, of those that come of each other by forks: what a thread of the parent held at a
// fork, or started before it, is not there in the child, and whoever keeps such things compares. Forks are
// numbered and not processes, for a child in a namespace of its own may have its parent's number, and a
// grandchild the number of an ancestor that has ended. Needs Linux and the C library alone; any thread may
// call, also in a child that was just forked.
#pragma once

#include <atomic>
#include <cstdint>

namespace lathe {

// From 1 to 2^31 - 1, and not that of any process that this one comes of by forks. Some nanoseconds; where
// the system wipes no pages in a child (before Linux 4.14, and where an emulator only says that it does), the
// process' number by a system call.
uint32_t fork_generation();

// Between two stores: a child that has the second one has the first one too, whichever thread forks and when.
inline void fork_fence() {
#ifdef __SANITIZE_THREAD__  // knows no fences of threads, and runs where stores become visible in their order
  std::atomic_signal_fence(std::memory_order_acq_rel);
#else
  std::atomic_thread_fence(std::memory_order_acq_rel);
#endif
}

}  // namespace lathe
