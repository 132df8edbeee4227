// Keeps the calling thread on some cpus while the object lives. A caller of a thread pool that shares a cpu
// with one of the pool's threads would be timed waiting for it. Threads that the caller starts meanwhile stay
// there.
#pragma once

#include <sched.h>

#include <span>

namespace lathe {

class PinnedThread {
 public:
  explicit PinnedThread(std::span<const int> cpus)
      : known_(sched_getaffinity(0, sizeof before_, &before_) == 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  explicit PinnedThread(int cpu) : PinnedThread(std::span<const int>(&cpu, 1)) {}
  ~PinnedThread() {
    if (known_) sched_setaffinity(0, sizeof before_, &before_);
  }
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  cpu_set_t before_{};
  bool known_ = false;
};

}  // namespace lathe
