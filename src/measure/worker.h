// The worker's side of measuring: a process that loads candidates, runs them between guard pages and times
// them, one at a time, until its parent goes away. Whatever a candidate does ends this process at worst.
#pragma once

#include <vector>

#include "base/result.h"

namespace lathe {

struct WorkerOptions {
  int socket = -1;         // to the parent (protocol.h)
  int shared_memory = -1;  // the file that buffers and, in its first page, the WorkerStatus lie in
  int parent = 0;          // its process id
  std::vector<int> cpus;   // the calling thread runs on the first, its pool's other threads on the rest
};

// Serves until the parent closes the socket; an error where serving could not begin or the socket broke. The
// process also ends, without returning from here, as soon as the parent is gone.
Status run_worker(const WorkerOptions& options);

}  // namespace lathe
