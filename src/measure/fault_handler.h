// The worker's answer to a candidate that faults: a signal handler that writes down in the shared
// WorkerStatus where it happened, then lets the signal end the process. One per process; only lathe-worker's
// main uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/worker_status.h"
#include "runtime/guarded_layout.h"

namespace lathe {

// A buffer as the fault handler must know it.
struct WatchedBuffer {
  const std::byte* mapping = nullptr;
  GuardedLayout layout;
  int32_t index = kNoBuffer;
};

// Handles SIGSEGV, SIGBUS, SIGFPE and SIGILL from now on, on a stack of its own for the calling thread.
// `status` must stay mapped as long as the process lives.
void install_fault_handler(WorkerStatus* status);

// The buffers of the candidate that runs next; they stay in force until the next call. Not while a kernel
// runs.
void watch_buffers(std::vector<WatchedBuffer> buffers);

}  // namespace lathe
