// A candidate in the worker: its code and all the memory that it may touch, whatever it runs on. Not
// thread-safe.
#pragma once

#include <memory>

#include "base/result.h"
#include "lathe/kernel_abi.h"
#include "measure/candidate/candidate_memory.h"
#include "measure/protocol.h"
#include "measure/worker_status.h"

namespace lathe {

class Candidate {
 public:
  Candidate() = default;
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  virtual ~Candidate() = default;

  // Runs the kernel once; its seconds. Checks the slack of every buffer afterwards.
  virtual Result<double> first_run() = 0;
  // Warms up, takes samples, checks the slack again.
  virtual Result<Samples> time(const TimingRequest& request) = 0;
};

// Loads the code, arranges the memory, prepares the constants. `memory` and `pool` must outlive the
// candidate; `status` is told the stages.
Result<std::unique_ptr<Candidate>> open_candidate(const TrialRequest& request, CandidateMemory& memory,
                                                  const LatheParallel* pool, WorkerStatus& status);

}  // namespace lathe
