// Which buffers a lowered program touches and where each lies: what every code generator asks first.
#pragma once

#include <vector>

#include "lower/lower.h"

namespace lathe {

enum class Storage : uint8_t { argument, workspace, thread, registers, shared, literal };

struct BufferUse {
  Tensor tensor;
  Storage storage = Storage::argument;
  int argument = -1;     // argument: its place in the entry's `buffers`, prepared ones after the arguments
  int64_t offset = 0;    // workspace, thread: bytes from the arena's start
  int64_t bytes = 0;     // workspace, thread, registers: as laid out
  bool streams = false;  // argument: whole vectors go past the caches
};

// The buffers that `stmt` accesses, in order of first access. `lowered` must have passed check_lowered.
std::vector<BufferUse> buffers_used(const LoweredProgram& lowered, const Stmt& stmt);

// Whether two different buffers can lie on the same bytes, which disjoint lifetimes in one arena may.
bool may_overlap(const BufferUse& a, const BufferUse& b);

}  // namespace lathe
