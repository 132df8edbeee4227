// Sleeping until a word changes, and a lock made of it that a fork cannot leave held. Linux and the C library
// alone: this is compiled into artifacts.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "runtime/fork_generation.h"

namespace lathe {

// Sleeps while the word holds `seen`, no longer than `most` where that is given; may return early.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t seen, const timespec* most = nullptr) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, most, nullptr, 0);
}
inline void futex_wake(std::atomic<uint32_t>& word, int threads) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

// A lock that knows whose it is: in a forked child, one that a thread of the parent held is free. What it
// guards may then be half done, and the child looks.
class ProcessLock {
 public:
  void lock() {
    const uint32_t mine = fork_generation();
    uint32_t seen = 0;
    if (holder_.compare_exchange_strong(seen, mine, std::memory_order_acquire)) return;
    uint32_t waited = 0;
    while (true) {
      const bool is_free = (seen & ~kWaiters) != mine;
      // Whoever slept cannot know whether others still do.
      const uint32_t next = is_free ? mine | waited : seen | kWaiters;
      if (next != seen && !holder_.compare_exchange_strong(seen, next, std::memory_order_acquire)) continue;
      if (is_free) return;
      futex_wait(holder_, next);
      waited = kWaiters;
      seen = holder_.load(std::memory_order_relaxed);
    }
  }
  void unlock() {
    if ((holder_.exchange(0, std::memory_order_release) & kWaiters) != 0) futex_wake(holder_, 1);
  }

 private:
  static constexpr uint32_t kWaiters = uint32_t{1} << 31;
  std::atomic<uint32_t> holder_{0};  // the generation whose thread holds it, and whether others wait
};

class LockGuard {
 public:
  explicit LockGuard(ProcessLock& lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  ProcessLock& lock_;
};

}  // namespace lathe
