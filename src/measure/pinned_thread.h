// Keeps the calling thread on one cpu while the object lives. A caller of a thread pool that shares a cpu
// with one of the pool's threads would be timed waiting for it.
#pragma once

#include <sched.h>

#include "runtime/thread_pool.h"

namespace lathe {

class PinnedThread {
 public:
  explicit PinnedThread(int cpu) : known_(sched_getaffinity(0, sizeof before_, &before_) == 0) {
    pin_this_thread(cpu);
  }
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
