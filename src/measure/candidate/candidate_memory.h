// The memory of candidates in the worker. Shared buffers keep their addresses from one candidate to the next
// where they can, so that inputs are mapped once for a whole tuning run; the others go to the next candidate
// that wants as many bytes. Not thread-safe.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "base/result.h"
#include "measure/fault_handler.h"
#include "measure/protocol.h"
#include "measure/shared_memory.h"
#include "runtime/buffer.h"

namespace lathe {

// The memory of candidates: shared buffers by their offset, and each candidate's own for prepared ones and
// workspace. Both are kept within limits.
class CandidateMemory {
 public:
  explicit CandidateMemory(int shared_memory) : file_(shared_memory) {}

  // What a candidate gets for its arguments.
  struct Views {
    std::vector<void*> pointers;          // in the order of the module's buffers
    std::vector<WatchedBuffer> watched;   // all of them and the workspace
    std::vector<WatchedBuffer> writable;  // those whose slack may be overwritten
    void* workspace = nullptr;
    std::vector<std::shared_ptr<GuardedBuffer>> own;
  };

  // Lets go of what was mapped longest ago, beyond some number and those of a candidate with so many buffers.
  void make_room(size_t buffers);
  // A buffer that the parent sees, too: holds until the next call of make_room.
  Result<WatchedBuffer> shared(int64_t offset, int64_t bytes, MappedBuffer::Access access);
  // Inputs and constants as the parent wrote them, read-only; everything else full of NaN with its slack
  // whole. Views of shared buffers hold until the next call.
  Result<Views> arrange(const TrialRequest& request);

 private:
  struct Shared {
    int64_t offset = 0;
    MappedBuffer::Access access = MappedBuffer::Access::read;
    MappedBuffer memory;
  };

  Result<WatchedBuffer> own(int64_t bytes, Views& views);

  int file_;
  std::list<Shared> shared_;                       // most recently used first
  std::list<std::shared_ptr<GuardedBuffer>> own_;  // likewise; those that no views hold are free
};

}  // namespace lathe
