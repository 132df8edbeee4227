// A candidate in the worker: its code and all the memory that it may touch. Shared buffers keep their
// addresses from one candidate to the next where they can, so that inputs are mapped once for a whole tuning
// run; the others go with their candidate. Not thread-safe.
#pragma once

#include <list>
#include <optional>
#include <vector>

#include "base/result.h"
#include "measure/fault_handler.h"
#include "measure/protocol.h"
#include "measure/shared_memory.h"
#include "runtime/buffer.h"
#include "runtime/loader.h"

namespace lathe {

// The memory of candidates: shared buffers by their offset, which are kept, and each candidate's own for
// prepared ones and workspace.
class CandidateMemory {
 public:
  explicit CandidateMemory(int shared_memory) : file_(shared_memory) {}

  // What a candidate gets for its arguments.
  struct Views {
    std::vector<void*> pointers;          // in the order of the module's buffers
    std::vector<WatchedBuffer> watched;   // all of them and the workspace
    std::vector<WatchedBuffer> writable;  // those whose slack may be overwritten
    void* workspace = nullptr;
    std::vector<GuardedBuffer> own;
  };

  // Inputs and constants as the parent wrote them, read-only; everything else full of NaN with its slack
  // whole. Views of shared buffers hold until the next call.
  Result<Views> arrange(const TrialRequest& request);

 private:
  struct Shared {
    int64_t offset = 0;
    MappedBuffer::Access access = MappedBuffer::Access::read;
    MappedBuffer memory;
  };
  Result<WatchedBuffer> shared(int64_t offset, int64_t bytes, MappedBuffer::Access access);

  int file_;
  std::list<Shared> shared_;  // most recently used first
};

class Candidate {
 public:
  // Loads the code, arranges the memory, prepares the constants. `pool` must outlive the candidate; `status`
  // is told the stages.
  static Result<Candidate> create(const TrialRequest& request, CandidateMemory& memory,
                                  const LatheParallel* pool, WorkerStatus& status);

  // Runs the kernel once; its seconds. Checks the slack of every buffer afterwards.
  Result<double> first_run();
  // Warms up, takes samples, checks the slack again.
  Result<Samples> time(const TimingRequest& request);

 private:
  Status run() const;
  // All but the inputs, which in a network have just been written, and the workspace, which its kernels
  // share.
  void take_out_of_caches() const;
  Status check_slack() const;

  Module module_;
  LoadedModule code_;
  CandidateMemory::Views views_;
  const LatheParallel* pool_ = nullptr;
  WorkerStatus* status_ = nullptr;
  double first_run_seconds_ = 0;
};

}  // namespace lathe
