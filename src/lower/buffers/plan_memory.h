// Where the allocated buffers of a lowered program lie: the last pass, whose result the code generators read.
// Values; safe to share between threads.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/loop.h"

namespace lathe {

// `workspace`: once for the whole call; `thread`: in the arena of the thread that runs the iteration;
// `registers`: left to the code generator, which turns the elements into values of its own; `shared`: left to
// it too, one buffer for each block of threads.
enum class Arena : uint8_t { workspace, thread, registers, shared };

struct BufferPlace {
  Tensor tensor;
  Arena arena = Arena::workspace;
  int64_t offset = 0;  // bytes from the arena's start, a multiple of 64; 0 for registers
  int64_t bytes = 0;   // as laid out, padding included
};

// The caller's workspace holds the shared part, then one arena a thread: the arena of thread t starts at
// shared_bytes + t * thread_bytes. Outside parallel loops t is 0. Buffers of disjoint lifetimes may overlap.
struct MemoryPlan {
  std::vector<BufferPlace> places;  // one for each Alloc of `prepare` and `main`, in program order
  int64_t shared_bytes = 0;         // a multiple of 64
  int64_t thread_bytes = 0;         // a multiple of 64

  // The place of an allocated tensor, or null for any other.
  const BufferPlace* find(const Tensor& tensor) const {
    for (const BufferPlace& place : places) {
      if (place.tensor == tensor) return &place;
    }
    return nullptr;
  }
};

// Places every Alloc of a flattened, unrolled program for a processor. `prepare` and `main` use the same
// workspace.
MemoryPlan plan_memory(const Program& program);
// The same for a device that runs kernels: what lies around kernels is in the workspace, what kernels share
// among the threads of a block in `shared`, all else is each thread's own.
MemoryPlan plan_kernel_memory(const Program& program);

}  // namespace lathe
